class Solution:
    def lit(self, lamps, wishes):
        then = [[] for _ in range(2 * lamps + 1)]
        for a, b in wishes:
            then[-a].append(b)
            then[-b].append(a)
        light = [None] * (lamps + 1)

        def granted(first):
            done, open_wishes = [], [first]
            while open_wishes:
                wish = open_wishes.pop()
                lamp = abs(wish)
                if light[lamp] is None:
                    light[lamp] = wish > 0
                    done.append(lamp)
                    open_wishes += then[wish]
                elif light[lamp] != (wish > 0):
                    for lamp in done:
                        light[lamp] = None
                    return False
            return True

        for lamp in range(1, lamps + 1):
            if light[lamp] is None and not granted(lamp) and not granted(-lamp):
                return []
        return light[1:]
