from collections import defaultdict


class Solution:
    def evenStretches(self, beads):
        seen, state, total = defaultdict(int), 0, 0
        seen[0] = 1
        for bead in beads:
            state ^= hash((bead, "bead", bead ^ 0x5DEECE66D, 11))
            total += seen[state]
            seen[state] += 1
        return total
