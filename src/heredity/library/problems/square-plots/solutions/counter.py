from collections import Counter
from itertools import combinations


class Solution:
    def plots(self, posts):
        counts = Counter((a + c, b + d, (a - c) ** 2 + (b - d) ** 2) for (a, b), (c, d) in combinations(posts, 2))
        return sum(many * (many - 1) // 2 for many in counts.values())
