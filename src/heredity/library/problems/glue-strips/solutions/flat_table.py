class Solution:
    def leastGlue(self, widths):
        count = len(widths)
        size = count + 1
        sums = [0] * size
        for i, width in enumerate(widths):
            sums[i + 1] = sums[i] + width
        best = [0] * (size * size)
        for end in range(2, size):
            for start in range(end - 2, -1, -1):
                best[start * size + end] = min(
                    best[start * size + cut]
                    + best[cut * size + end]
                    + max(sums[cut] - sums[start], sums[end] - sums[cut])
                    for cut in range(start + 1, end)
                )
        return best[count]
