import re


class Solution:
    def strung(self, beads, size):
        while found := re.search(rf"(.)\1{{{size - 1}}}", beads[::-1]):
            place = len(beads) - found.end()
            kind = found[1]
            beads = beads[:place] + (chr(ord(kind) + 1) if kind != "z" else "") + beads[place + size :]
        return beads
