class Solution:
    def pairs(self, signals, limit):
        # Goes down with pairs of parts of the sorted row whose numbers agree with limit so far.
        row, total = sorted(signals), 0

        def parted(low, high, bit):
            first, last = low, high
            while first < last:
                middle = (first + last) // 2
                if row[middle] >> bit & 1:
                    last = middle
                else:
                    first = middle + 1
            return first

        stack = [(0, len(row), 0, len(row), 16)]
        while stack:
            a, b, c, d, bit = stack.pop()
            if a == b or c == d or bit < 0:
                continue
            one, other = parted(a, b, bit), parted(c, d, bit)
            if limit >> bit & 1:
                if a == c:
                    total += (one - a) * (one - a - 1) // 2 + (b - one) * (b - one - 1) // 2
                    stack.append((a, one, other, d, bit - 1))
                else:
                    total += (one - a) * (other - c) + (b - one) * (d - other)
                    stack.append((a, one, other, d, bit - 1))
                    stack.append((one, b, c, other, bit - 1))
            else:
                stack.append((a, one, c, other, bit - 1))
                stack.append((one, b, other, d, bit - 1))
        return total
