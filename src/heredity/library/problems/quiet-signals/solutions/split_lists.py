class Solution:
    def pairs(self, signals, limit):
        # The lists of those with bit 0 and bit 1, down to the last bit.
        def within(row, bit):
            if len(row) < 2 or bit < 0:
                return 0
            zeros = [value for value in row if not value >> bit & 1]
            ones = [value for value in row if value >> bit & 1]
            if limit >> bit & 1:
                return (
                    len(zeros) * (len(zeros) - 1) // 2
                    + len(ones) * (len(ones) - 1) // 2
                    + between(zeros, ones, bit - 1)
                )
            return within(zeros, bit - 1) + within(ones, bit - 1)

        def between(one, other, bit):
            if not one or not other or bit < 0:
                return 0
            parts = []
            for row in (one, other):
                parts.append([value for value in row if not value >> bit & 1])
                parts.append([value for value in row if value >> bit & 1])
            a, b, c, d = parts
            if limit >> bit & 1:
                return len(a) * len(c) + len(b) * len(d) + between(a, d, bit - 1) + between(b, c, bit - 1)
            return between(a, c, bit - 1) + between(b, d, bit - 1)

        return within(signals, 16)
