class Solution:
    def quietPlates(self, low, high, base):
        def upto(number):
            digits = [int(digit) for digit in str(number)]
            count = len(digits)
            # ways[last][rest]: endings of some length after a digit whose sum has a remainder.
            tables = [[[int(rest == 0) for rest in range(base)] for _ in range(10)]]
            for _ in range(count):
                shorter = tables[-1]
                sums = [sum(shorter[d][(rest - d) % base] for d in range(10)) for rest in range(base)]
                tables.append(
                    [[sums[rest] - shorter[last][(rest - last) % base] for rest in range(base)] for last in range(10)]
                )
            total = 0
            for length in range(1, count):
                total += sum(tables[length - 1][d][-d % base] for d in range(1, 10))
            last, rest = -1, 0
            for place, top in enumerate(digits):
                for d in range(place == 0, top):
                    if d != last:
                        total += tables[count - place - 1][d][(-rest - d) % base]
                if top == last:
                    return total
                last, rest = top, rest + top
            return total + (rest % base == 0)

        return upto(high) - (upto(low - 1) if low > 1 else 0)
