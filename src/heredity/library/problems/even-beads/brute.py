class Solution:
    def evenStretches(self, beads):
        total = 0
        for start in range(len(beads)):
            odd = set()
            for bead in beads[start:]:
                odd ^= {bead}
                total += not odd
        return total
