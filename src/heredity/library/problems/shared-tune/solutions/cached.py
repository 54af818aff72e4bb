from functools import cache


class Solution:
    def bestTune(self, first, second):
        @cache
        def best(i, j, joined):
            if i < 0 or j < 0:
                return 0
            found = max(best(i - 1, j, False), best(i, j - 1, False))
            if first[i] == second[j]:
                found = max(found, 1 + joined + best(i - 1, j - 1, True))
            return found

        for row in range(0, len(first), 50):
            best(row, len(second) - 1, False)
        return best(len(first) - 1, len(second) - 1, False)
