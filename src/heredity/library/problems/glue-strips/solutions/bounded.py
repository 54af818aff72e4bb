class Solution:
    def leastGlue(self, widths):
        count = len(widths)
        sums = [0]
        for width in widths:
            sums.append(sums[-1] + width)
        best = [[0] * (count + 1) for _ in range(count + 1)]
        for length in range(2, count + 1):
            for start in range(count - length + 1):
                end = start + length
                cuts = sorted(range(start + 1, end), key=lambda cut: abs(2 * sums[cut] - sums[start] - sums[end]))
                least = 1 << 60
                for cut in cuts:
                    wide = max(sums[cut] - sums[start], sums[end] - sums[cut])
                    if wide >= least:
                        break
                    least = min(least, wide + best[start][cut] + best[cut][end])
                best[start][end] = least
        return best[0][count]
