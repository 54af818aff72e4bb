class Solution:
    def evenStretches(self, beads):
        seen, total = [1, 0], 0
        for place in range(1, len(beads) + 1):
            total += seen[place % 2]
            seen[place % 2] += 1
        return total
