from functools import cache


class Solution:
    def quietPlates(self, low, high, base):
        def upto(number):
            text = str(number)

            @cache
            def count(place, last, rest, free):
                if place == len(text):
                    return int(rest == 0)
                top = 9 if free else int(text[place])
                return sum(count(place + 1, d, (rest + d) % base, free or d < top) for d in range(top + 1) if d != last)

            return count(0, -1, 0, False)

        return upto(high) - upto(low - 1)
