class Solution:
    def stillLit(self, lamps):
        lit, side = 0, 1
        while side * side <= lamps:
            lit += (lamps // (side * side)).bit_length()
            side += 2
        return lit
