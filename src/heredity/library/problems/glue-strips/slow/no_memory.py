class Solution:
    def leastGlue(self, widths):
        def least(start, end):
            if end - start < 2:
                return 0
            return min(
                least(start, cut) + least(cut, end) + max(sum(widths[start:cut]), sum(widths[cut:end]))
                for cut in range(start + 1, end)
            )

        return least(0, len(widths))
