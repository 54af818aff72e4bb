from itertools import combinations


class Solution:
    def closest(self, stalls):
        all_pairs = [(a - c) ** 2 + (b - d) ** 2 for (a, b), (c, d) in combinations(stalls, 2)]
        return [min(all_pairs), all_pairs.count(min(all_pairs))]
