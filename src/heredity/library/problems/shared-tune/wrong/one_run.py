class Solution:
    def bestTune(self, first, second):
        longest, last = 0, [0] * (len(second) + 1)
        for a in first:
            row = [0]
            for j, b in enumerate(second):
                row.append(last[j] + 1 if a == b else 0)
            longest, last = max(longest, *row), row
        return max(0, 2 * longest - 1)
