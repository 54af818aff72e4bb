class Solution:
    def leastGlue(self, widths):
        count = len(widths)
        best = {(i, i + 1): (0, widths[i]) for i in range(count)}
        for length in range(2, count + 1):
            for i in range(count - length + 1):
                j = i + length
                options = []
                for k in range(i + 1, j):
                    (one, left), (other, right) = best[i, k], best[k, j]
                    options.append(one + other + max(left, right))
                best[i, j] = (min(options), left + right)
        return best[0, count][0]
