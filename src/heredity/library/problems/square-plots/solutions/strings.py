class Solution:
    def plots(self, posts):
        diagonals = {}
        for i, (a, b) in enumerate(posts):
            for c, d in posts[:i]:
                key = f"{a + c} {b + d} {(a - c) ** 2 + (b - d) ** 2}"
                diagonals.setdefault(key, []).append((i, c, d))
        return sum(len(row) * (len(row) - 1) // 2 for row in diagonals.values())
