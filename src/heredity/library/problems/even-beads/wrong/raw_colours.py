class Solution:
    def evenStretches(self, beads):
        seen, state, total = {0: 1}, 0, 0
        for bead in beads:
            state ^= bead
            total += seen.get(state, 0)
            seen[state] = seen.get(state, 0) + 1
        return total
