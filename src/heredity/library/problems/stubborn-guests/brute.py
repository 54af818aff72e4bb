from itertools import product


class Solution:
    def lit(self, lamps, wishes):
        for light in product((False, True), repeat=lamps):
            if all(light[abs(a) - 1] == (a > 0) or light[abs(b) - 1] == (b > 0) for a, b in wishes):
                return list(light)
        return []
