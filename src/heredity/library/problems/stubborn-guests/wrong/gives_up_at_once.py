class Solution:
    def lit(self, lamps, wishes):
        then = [[] for _ in range(2 * lamps + 1)]
        for a, b in wishes:
            then[-a].append(b)
            then[-b].append(a)
        light = [None] * (lamps + 1)

        def granted(first):
            open_wishes = [first]
            while open_wishes:
                wish = open_wishes.pop()
                if light[abs(wish)] is None:
                    light[abs(wish)] = wish > 0
                    open_wishes += then[wish]
                elif light[abs(wish)] != (wish > 0):
                    return False
            return True

        for a, b in wishes:
            if a == b and not granted(a):
                return []
        for lamp in range(1, lamps + 1):
            if light[lamp] is None and not granted(lamp):
                return []
        return light[1:]
