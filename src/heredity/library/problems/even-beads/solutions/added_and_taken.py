import random


class Solution:
    def evenStretches(self, beads):
        kinds, odd = {}, set()
        seen, state, total = {0: 1}, 0, 0
        for bead in beads:
            if bead not in kinds:
                kinds[bead] = random.getrandbits(61)
            if bead in odd:
                odd.remove(bead)
                state -= kinds[bead]
            else:
                odd.add(bead)
                state += kinds[bead]
            total += seen.get(state, 0)
            seen[state] = seen.get(state, 0) + 1
        return total
