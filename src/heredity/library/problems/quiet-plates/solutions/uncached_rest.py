from functools import cache


class Solution:
    def quietPlates(self, low, high, base):
        @cache
        def upto(number, last_free, want):
            """Quiet plates up to a number that do not begin with a digit."""
            text = str(number)
            if len(text) == 1:
                return sum(1 for d in range(1, number + 1) if d != last_free and d % base == want)
            return sum(begun(number, d, want) for d in range(1, 10) if d != last_free)

        @cache
        def begun(number, first, want):
            total = 0
            for length in range(1, len(str(number)) + 1):
                total += walk(length, first, want, number if length == len(str(number)) else 10**length - 1)
            return total

        @cache
        def walk(length, first, want, bound):
            unit = 10 ** (length - 1)
            if first * unit > bound:
                return 0
            if length == 1:
                return int(first % base == want)
            bound = min(bound - first * unit, unit - 1)
            return sum(walk(length - 1, d, (want - first) % base, bound) for d in range(10) if d != first)

        return upto(high, 0, 0) - (upto(low - 1, 0, 0) if low > 1 else 0)
