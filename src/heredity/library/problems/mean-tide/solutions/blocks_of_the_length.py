from itertools import accumulate


class Solution:
    def highestMean(self, levels, hours):
        # A window is the end of one block and the beginning of the next.
        best = float("-inf")
        for start in range(0, len(levels) - hours + 1, hours):
            block, after = levels[start : start + hours], levels[start + hours : start + 2 * hours]
            ends = list(accumulate(reversed(block)))[::-1]
            best = max(best, ends[0])
            for end, beginning in zip(ends[1:], accumulate(after)):
                best = max(best, end + beginning)
        return best / hours
