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

        def add(node, left, right, low, high, x):
            sums[node] += x * (min(right, high) - max(left, low))
            if low <= left and right <= high:
                more[node] += x
                return
            middle = (left + right) // 2
            if low < middle:
                add(2 * node, left, middle, low, high, x)
            if high > middle:
                add(2 * node + 1, middle, right, low, high, x)

        def total(node, left, right, low, high):
            if low <= left and right <= high:
                return sums[node]
            middle, found = (left + right) // 2, more[node] * (min(right, high) - max(left, low))
            if low < middle:
                found += total(2 * node, left, middle, low, high)
            if high > middle:
                found += total(2 * node + 1, middle, right, low, high)
            return found

        for kind, i, x in orders:
            if kind:
                answers.append(total(1, 0, count, begin[i], end[i]))
            else:
                add(1, 0, count, begin[i], end[i], x)
        return answers
