class Solution:
    def evenStretches(self, beads):
        mask = (1 << 64) - 1

        def mixed(x):
            x = x + 0x9E3779B97F4A7C15 & mask
            x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & mask
            x = (x ^ x >> 27) * 0x94D049BB133111EB & mask
            return x ^ x >> 31

        seen, state, total = {0: 1}, 0, 0
        for bead in beads:
            state ^= mixed(bead)
            before = seen.get(state, 0)
            total += before
            seen[state] = before + 1
        return total
