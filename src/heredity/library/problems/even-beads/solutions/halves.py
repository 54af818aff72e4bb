from collections import Counter
from random import getrandbits


class Solution:
    def evenStretches(self, beads):
        kinds = {bead: getrandbits(60) for bead in set(beads)}
        tags = [kinds[bead] for bead in beads]

        def count(low, high):
            if high - low < 2:
                return 0
            middle = (low + high) // 2
            left, state = Counter(), 0
            for tag in reversed(tags[low:middle]):
                state ^= tag
                left[state] += 1
            total, state = 0, 0
            for tag in tags[middle:high]:
                state ^= tag
                if state in left:
                    total += left[state]
            return total + count(low, middle) + count(middle, high)

        return count(0, len(tags))
