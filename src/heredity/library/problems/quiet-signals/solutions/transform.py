class Solution:
    def pairs(self, signals, limit):
        size = 65_536
        row = [0] * size
        for signal in signals:
            row[signal] += 1

        def transformed(row):
            half = 1
            while half < size:
                for begin in range(0, size, 2 * half):
                    one, other = row[begin : begin + half], row[begin + half : begin + 2 * half]
                    if half < 8:
                        for i in range(half):
                            a, b = one[i], other[i]
                            row[begin + i], row[begin + half + i] = a + b, a - b
                    else:
                        row[begin : begin + half] = [a + b for a, b in zip(one, other)]
                        row[begin + half : begin + 2 * half] = [a - b for a, b in zip(one, other)]
                half *= 2
            return row

        if limit == 0:
            return 0
        found = transformed([value * value for value in transformed(row)])
        return (sum(found[:limit]) // size - len(signals)) // 2
