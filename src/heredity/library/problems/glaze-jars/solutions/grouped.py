from collections import Counter
from math import comb


class Solution:
    def expectedJars(self, chances):
        totals = {(0.0, 0): 1}
        for chance, count in Counter(chances).items():
            following = {}
            for (total, size), weight in totals.items():
                for taken in range(count + 1):
                    key = (total + taken * chance, size + taken)
                    following[key] = following.get(key, 0) + weight * comb(count, taken)
            totals = following
        return sum(weight * (-1) ** (size + 1) / total for (total, size), weight in totals.items() if size)
