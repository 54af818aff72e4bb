from itertools import groupby
from random import getrandbits


class Solution:
    def evenStretches(self, beads):
        kinds, states = {}, [0]
        for bead in beads:
            states.append(states[-1] ^ kinds.setdefault(bead, getrandbits(62)))
        total = 0
        for _, group in groupby(sorted(states)):
            count = sum(1 for _ in group)
            total += count * (count - 1) // 2
        return total
