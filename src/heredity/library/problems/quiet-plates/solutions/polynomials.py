from functools import cache


class Solution:
    def quietPlates(self, low, high, base):
        @cache
        def poly(length, last):
            if length == 0:
                return [1]
            found = [0] * (9 * length + 1)
            for d in range(10):
                if d != last:
                    for power, ways in enumerate(poly(length - 1, d)):
                        found[power + d] += ways
            return found

        def counted(length, last, rest):
            return sum(poly(length, last)[-rest % base :: base])

        def below(number):
            text = str(number)
            total = sum(counted(length, d, d) for length in range(len(text) - 1) for d in range(1, 10))
            last, rest = -1, 0
            for place, char in enumerate(text):
                for d in range(place == 0, int(char)):
                    total += counted(len(text) - place - 1, d, rest + d) if d != last else 0
                if int(char) == last:
                    break
                last, rest = int(char), rest + int(char)
            return total

        return below(high + 1) - below(low)
