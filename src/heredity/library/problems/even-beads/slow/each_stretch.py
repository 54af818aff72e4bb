class Solution:
    def evenStretches(self, beads):
        total = 0
        for start in range(len(beads)):
            odd = set()
            for bead in beads[start:]:
                if bead in odd:
                    odd.remove(bead)
                    total += not odd
                else:
                    odd.add(bead)
        return total
