class Solution:
    def paid(self, above, orders):
        count = len(above)
        size = [1] * count
        for i in range(count - 1, 0, -1):
            size[above[i]] += size[i]
        begin, end = [0] * count, [count] * count
        free = [1] * count
        for i in range(1, count):
            begin[i] = free[above[i]]
            end[i] = free[above[i]] = begin[i] + size[i]
            free[i] = begin[i] + 1
        sums, more, answers = [0] * (4 * count), [0] * (4 * count), []

        def visit(node, left, right, low, high, x):
            # Adds x to [low, high), and returns the sum of it.
            if low <= left and right <= high:
                sums[node] += x * (right - left)
                more[node] += x
                return sums[node]
            middle = (left + right) // 2
            if more[node]:
                sums[2 * node] += more[node] * (middle - left)
                sums[2 * node + 1] += more[node] * (right - middle)
                more[2 * node] += more[node]
                more[2 * node + 1] += more[node]
                more[node] = 0
            total = 0
            if low < middle:
                total += visit(2 * node, left, middle, low, high, x)
            if high > middle:
                total += visit(2 * node + 1, middle, right, low, high, x)
            sums[node] = sums[2 * node] + sums[2 * node + 1]
            return total

        for kind, i, x in orders:
            total = visit(1, 0, count, begin[i], end[i], x)
            if kind:
                answers.append(total)
        return answers
