class Solution:
    def plots(self, posts):
        middles = {}
        for i, (a, b) in enumerate(posts):
            for c, d in posts[:i]:
                middles[a + c, b + d] = middles.get((a + c, b + d), 0) + 1
        return sum(many * (many - 1) // 2 for many in middles.values())
