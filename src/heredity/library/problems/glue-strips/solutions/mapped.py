from operator import add


class Solution:
    def leastGlue(self, widths):
        count = len(widths)
        sums = [0]
        for width in widths:
            sums.append(sums[-1] + width)
        rows = [[0] for _ in range(count)]
        columns = [[] for _ in range(count + 1)]
        for end in range(1, count + 1):
            column = [0]
            for start in range(end - 2, -1, -1):
                inner = [max(sums[cut] - sums[start], sums[end] - sums[cut]) for cut in range(start + 1, end)]
                least = min(map(add, map(add, rows[start][: end - start - 1], reversed(column)), inner))
                column.append(least)
                rows[start].append(least)
            columns[end] = column
        return columns[count][-1]
