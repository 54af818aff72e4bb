from itertools import product


class Solution:
    def bestCargo(self, weights, values, capacity):
        best = 0
        for counts in product((0, 1, 2), repeat=len(weights)):
            if counts.count(2) < 2 and sum(c * w for c, w in zip(counts, weights)) <= capacity:
                best = max(best, sum(c * v for c, v in zip(counts, values)))
        return best
