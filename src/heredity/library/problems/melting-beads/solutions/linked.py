class Solution:
    def strung(self, beads, size):
        top = None
        for bead in map(ord, beads):
            while bead <= 122:
                if top and top[0] == bead:
                    top = (bead, top[1] + 1, top[2])
                else:
                    top = (bead, 1, top)
                if top[1] < size:
                    break
                top = top[2]
                bead += 1
        parts = []
        while top:
            parts.append(chr(top[0]) * top[1])
            top = top[2]
        return "".join(reversed(parts))
