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
        width = int(count**0.5) + 1
        wages, sums = [0] * count, [0] * (count // width + 1)
        whole, answers = [0] * (count // width + 1), []
        for kind, i, x in orders:
            low, high = begin[i], end[i]
            first, last = -(-low // width), high // width
            if first > last:
                parts, middle = [(low, high)], range(0)
            else:
                parts, middle = [(low, first * width), (last * width, high)], range(first, last)
            if kind == 0:
                for a, b in parts:
                    if a < b:
                        sums[a // width] += x * (b - a)
                        wages[a:b] = [wage + x for wage in wages[a:b]]
                for block in middle:
                    whole[block] += x
                    sums[block] += x * width
                continue
            total = sum(sums[middle.start : middle.stop]) if middle else 0
            for a, b in parts:
                if a < b:
                    total += sum(wages[a:b]) + whole[a // width] * (b - a)
            answers.append(total)
        return answers
