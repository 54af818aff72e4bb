class Solution:
    def stillLit(self, lamps):
        lit = side = 0
        while (side + 1) * (side + 1) <= lamps:
            side += 1
            lit += 1
            if 2 * side * side <= lamps:
                lit += 1
        return lit
