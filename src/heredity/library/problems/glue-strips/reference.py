class Solution:
    def leastGlue(self, widths):
        count = len(widths)
        sums = [0]
        for width in widths:
            sums.append(sums[-1] + width)
        best = [[0] * (count + 1) for _ in range(count + 1)]
        for start in range(count - 1, -1, -1):
            row = best[start]
            for end in range(start + 2, count + 1):
                twice, least = sums[start] + sums[end], 1 << 60
                for cut in range(start + 1, end):
                    left = sums[cut] - sums[start] if 2 * sums[cut] > twice else sums[end] - sums[cut]
                    glue = row[cut] + best[cut][end] + left
                    if glue < least:
                        least = glue
                row[end] = least
        return best[0][count]
