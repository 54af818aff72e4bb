class Solution:
    def evenStretches(self, beads):
        kinds = {}
        seen, state, total = {0: 1}, 0, 0
        for bead in beads:
            state ^= 1 << kinds.setdefault(bead, len(kinds) % 5)
            total += seen.get(state, 0)
            seen[state] = seen.get(state, 0) + 1
        return total
