from bisect import bisect_right


class Solution:
    def leastGlue(self, widths):
        count = len(widths)
        sums = [0]
        for width in widths:
            sums.append(sums[-1] + width)
        rows = [[0] * (count + 1) for _ in range(count + 1)]
        columns = [[0] * (count + 1) for _ in range(count + 1)]
        for start in range(count - 1, -1, -1):
            for end in range(start + 2, count + 1):
                first = bisect_right(sums, (sums[start] + sums[end]) / 2, start + 1, end)
                row, column = rows[start], columns[end]
                options = [
                    a + b - s
                    for a, b, s in zip(row[start + 1 : first], column[start + 1 : first], sums[start + 1 : first])
                ]
                least = min(options, default=1 << 60) + sums[end]
                options = [a + b + s for a, b, s in zip(row[first:end], column[first:end], sums[first:end])]
                least = min(least, min(options, default=1 << 60) - sums[start])
                rows[start][end] = columns[end][start] = least
        return rows[0][count]
