from functools import cache


class Solution:
    def quietPlates(self, low, high, base):
        def upto(number):
            text = str(number)

            @cache
            def count(place, used, rest, free, begun):
                if place == len(text):
                    return int(begun and rest == 0)
                total = 0
                for d in range(10 if free else int(text[place]) + 1):
                    still = free or d < int(text[place])
                    if not begun and d == 0:
                        total += count(place + 1, 0, 0, still, False)
                    elif not used >> d & 1:
                        total += count(place + 1, used | 1 << d, (rest + d) % base, still, True)
                return total

            return count(0, 0, 0, False, False)

        return upto(high) - upto(low - 1)
