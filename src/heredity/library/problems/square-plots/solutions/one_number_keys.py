class Solution:
    def plots(self, posts):
        # Middle and length in one integer.
        diagonals = {}
        for i, (a, b) in enumerate(posts):
            for c, d in posts[:i]:
                x, y = a - c, b - d
                key = (((a + c + (1 << 32)) << 33) + b + d + (1 << 32) << 64) + x * x + y * y
                if key in diagonals:
                    diagonals[key] += 1
                else:
                    diagonals[key] = 0
        return sum(more * (more + 1) // 2 for more in diagonals.values())
