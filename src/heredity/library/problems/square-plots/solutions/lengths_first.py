class Solution:
    def plots(self, posts):
        lengths = {}
        for i, (a, b) in enumerate(posts):
            for c, d in posts[:i]:
                lengths.setdefault((a - c) ** 2 + (b - d) ** 2, {}).setdefault((a + c, b + d), []).append(i)
        return sum(len(pairs) * (len(pairs) - 1) // 2 for middles in lengths.values() for pairs in middles.values())
