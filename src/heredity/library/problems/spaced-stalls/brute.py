from itertools import combinations


class Solution:
    def takings(self, places, stalls):
        return max(
            sum(places[i] for i in some)
            for some in combinations(range(len(places)), stalls)
            if all(b - a > 1 for a, b in zip(some, some[1:]))
        )
