class Solution:
    def bestTune(self, first, second):
        def best(i, j, joined):
            if i == len(first) or j == len(second):
                return 0
            found = max(best(i + 1, j, False), best(i, j + 1, False))
            if first[i] == second[j]:
                found = max(found, 1 + joined + best(i + 1, j + 1, True))
            return found

        return best(0, 0, False)
