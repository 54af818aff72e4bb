from itertools import combinations, groupby


class Solution:
    def plots(self, posts):
        row = sorted((a + c, b + d, (a - c) ** 2 + (b - d) ** 2) for (a, b), (c, d) in combinations(posts, 2))
        sizes = (len(list(group)) for _, group in groupby(row))
        return sum(size * (size - 1) // 2 for size in sizes)
