from functools import cache


class Solution:
    def quietPlates(self, low, high, base):
        def upto(number):
            text = str(number)

            @cache
            def count(place, last, rest, free):
                if place == len(text):
                    return int(last >= 0 and rest == 0)
                top = 9 if free else int(text[place])
                total = 0
                for d in range(top + 1):
                    if last < 0 and d == 0:
                        total += count(place + 1, -1, 0, free or top > 0)
                    elif d != last:
                        total += count(place + 1, d, (rest + d) % base, free or d < top)
                return total

            return count(0, -1, 0, False)

        return upto(high) - upto(low - 1)
