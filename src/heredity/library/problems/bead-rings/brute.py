from itertools import product


class Solution:
    def rings(self, follows, beads):
        return sum(
            all(follows[ring[i - 1]][ring[i]] == "1" for i in range(beads))
            for ring in product(range(len(follows)), repeat=beads)
        )
