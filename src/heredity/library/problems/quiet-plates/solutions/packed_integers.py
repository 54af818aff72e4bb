class Solution:
    def quietPlates(self, low, high, base):
        shift = 64
        wide = shift * base
        mask = (1 << wide) - 1

        def turned(row, d):
            d %= base
            return (row << shift * d | row >> wide - shift * d) & mask

        tables = [[1] * 10]
        for _ in range(16):
            turns = [turned(row, d) for d, row in enumerate(tables[-1])]
            whole = sum(turns)
            tables.append([whole - turns[d] for d in range(10)])

        def part(length, last, rest):
            return tables[length][last] >> shift * (-rest % base) & (1 << shift) - 1

        def below(number):
            text = str(number)
            total = sum(part(length, d, d) for length in range(len(text) - 1) for d in range(1, 10))
            last, rest = -1, 0
            for place, char in enumerate(text):
                d = int(char)
                total += sum(part(len(text) - place - 1, e, rest + e) for e in range(place == 0, d) if e != last)
                if d == last:
                    break
                last, rest = d, rest + d
            return total

        return below(high + 1) - below(low)
