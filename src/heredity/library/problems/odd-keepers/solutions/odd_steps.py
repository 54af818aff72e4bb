class Solution:
    def stillLit(self, lamps):
        lit = 0
        for limit in (lamps, lamps // 2):
            step = 1
            while limit >= step:
                limit -= step
                step += 2
                lit += 1
        return lit
