class Solution:
    def stillLit(self, lamps):
        lit = [False] * (lamps + 1)
        for keeper in range(1, lamps + 1, 2):
            for lamp in range(keeper, lamps + 1, keeper):
                lit[lamp] = not lit[lamp]
        return sum(lit)
