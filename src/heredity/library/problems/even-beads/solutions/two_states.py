import random


class Solution:
    def evenStretches(self, beads):
        kinds = {bead: (random.getrandbits(31), random.getrandbits(31)) for bead in set(beads)}
        seen, one, other, total = {(0, 0): 1}, 0, 0, 0
        for bead in beads:
            a, b = kinds[bead]
            one ^= a
            other ^= b
            total += seen.get((one, other), 0)
            seen[one, other] = seen.get((one, other), 0) + 1
        return total
