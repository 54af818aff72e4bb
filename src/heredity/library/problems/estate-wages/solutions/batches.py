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
        prefix, pending, answers = [0] * (count + 1), [], []
        wages = [0] * count
        for kind, i, x in orders:
            low, high = begin[i], end[i]
            if kind:
                total = prefix[high] - prefix[low]
                for a, b, y in pending:
                    if a < high and low < b:
                        total += (min(high, b) - max(low, a)) * y
                answers.append(total)
                continue
            pending.append((low, high, x))
            if len(pending) == 150:
                steps = [0] * (count + 1)
                for a, b, y in pending:
                    steps[a] += y
                    steps[b] -= y
                step = total = 0
                for at in range(count):
                    step += steps[at]
                    wages[at] += step
                    total += wages[at]
                    prefix[at + 1] = total
                pending = []
        return answers
