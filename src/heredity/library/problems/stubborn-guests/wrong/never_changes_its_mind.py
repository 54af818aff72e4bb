class Solution:
    def lit(self, lamps, wishes):
        light = [None] * (lamps + 1)
        for a, b in sorted(wishes, key=lambda two: two[0] != two[1]):
            if any(light[abs(w)] == (w > 0) for w in (a, b)):
                continue
            wish = a if light[abs(a)] is None else b
            if light[abs(wish)] is not None:
                return []
            light[abs(wish)] = wish > 0
        return [bool(one) for one in light[1:]]
