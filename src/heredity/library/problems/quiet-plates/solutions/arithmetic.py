from functools import cache


class Solution:
    def quietPlates(self, low, high, base):
        @cache
        def endings(length, last, rest):
            if length == 0:
                return int(rest % base == 0)
            return sum(endings(length - 1, d, (rest + d) % base) for d in range(10) if d != last)

        def below(number):
            total, size = 0, len(str(number))
            for length in range(1, size):
                total += sum(endings(length - 1, d, d % base) for d in range(1, 10))
            last, rest, unit = -1, 0, 10 ** (size - 1)
            for place in range(size):
                top = number // unit % 10
                for d in range(int(place == 0), top):
                    if d != last:
                        total += endings(size - place - 1, d, (rest + d) % base)
                if top == last:
                    break
                last, rest, unit = top, (rest + top) % base, unit // 10
            return total

        return below(high + 1) - below(low)
