import random


class Solution:
    def evenStretches(self, beads):
        tags = random.SystemRandom()
        kinds = {bead: tags.getrandbits(60) for bead in set(beads)}
        seen, state, total = {0: 1}, 0, 0
        for bead in beads:
            state ^= kinds[bead]
            before = seen.get(state, 0)
            total += before
            seen[state] = before + 1
        return total
