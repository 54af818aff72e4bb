from functools import cache


class Solution:
    def quietPlates(self, low, high, base):
        top = str(high)
        bottom = str(low).zfill(len(top))

        @cache
        def count(place, last, rest, above, below):
            if place == len(top):
                return int(rest == 0)
            first = 0 if above else int(bottom[place])
            final = 9 if below else int(top[place])
            total = 0
            for d in range(first, final + 1):
                if d != last:
                    begun = d or last >= 0
                    total += count(
                        place + 1, d if begun else -1, (rest + d) % base, above or d > first, below or d < final
                    )
            return total

        return count(0, -1, 0, False, False)
