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
        size = 1
        while size < count:
            size *= 2
        sums, more, answers = [0] * (2 * size), [0] * (2 * size), []
        for kind, i, x in orders:
            a, b, width = begin[i] + size, end[i] + size, 1
            ends, taken = (a, b - 1), []
            while a < b:
                if a & 1:
                    taken.append((a, width))
                    a += 1
                if b & 1:
                    b -= 1
                    taken.append((b, width))
                a, b, width = a // 2, b // 2, width * 2
            if kind == 0:
                for node, width in taken:
                    sums[node] += x * width
                    more[node] += x
                for node in ends:
                    node, width = node // 2, 2
                    while node:
                        sums[node] = sums[2 * node] + sums[2 * node + 1] + more[node] * width
                        node, width = node // 2, width * 2
                continue
            # What was given to whole nodes above counts for the part that is asked for.
            total = 0
            for node, width in taken:
                total += sums[node]
                node //= 2
                while node:
                    total += more[node] * width
                    node //= 2
            answers.append(total)
        return answers
