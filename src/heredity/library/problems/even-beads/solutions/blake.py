from hashlib import blake2b


class Solution:
    def evenStretches(self, beads):
        kinds = {}
        seen, state, total = {0: 1}, 0, 0
        for bead in beads:
            if bead not in kinds:
                kinds[bead] = int.from_bytes(blake2b(str(bead).encode(), digest_size=8).digest(), "big")
            state ^= kinds[bead]
            total += seen.get(state, 0)
            seen[state] = seen.get(state, 0) + 1
        return total
