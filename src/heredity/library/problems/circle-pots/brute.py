from itertools import combinations


class Solution:
    def waysToSow(self, pots, seeds):
        return sum(
            all(b - a > 1 for a, b in zip(chosen, chosen[1:]))
            and not (chosen and chosen[0] == 0 and chosen[-1] == pots - 1)
            for chosen in combinations(range(pots), seeds)
        )
