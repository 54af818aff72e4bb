class Solution:
    def plots(self, posts):
        diagonals = {}
        for i, (a, b) in enumerate(posts):
            for c, d in posts[:i]:
                # The same middle and the same length.
                key = (a + c, b + d, (a - c) ** 2 + (b - d) ** 2)
                diagonals[key] = diagonals.get(key, 0) + 1
        return sum(many * (many - 1) // 2 for many in diagonals.values())
