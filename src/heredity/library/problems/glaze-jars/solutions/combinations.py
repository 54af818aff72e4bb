from itertools import combinations


class Solution:
    def expectedJars(self, chances):
        return sum(
            (-1) ** (size + 1) / sum(group)
            for size in range(1, len(chances) + 1)
            for group in combinations(chances, size)
        )
