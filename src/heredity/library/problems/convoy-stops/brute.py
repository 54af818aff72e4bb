from itertools import product


class Solution:
    def leastTrouble(self, crates, ideal):
        totals = []
        for cuts in product([False, True], repeat=len(crates) - 1):
            total, weight = 0, crates[0]
            for cut, crate in zip(cuts, crates[1:]):
                if cut:
                    total, weight = total + (weight - ideal) ** 2, 0
                weight += crate
            totals.append(total + (weight - ideal) ** 2)
        return min(totals)
