class Solution:
    def plots(self, posts):
        # Sides with the same step: two of them bound a plot if what leads from one to the other is square to them.
        sides = {}
        points = sorted(map(tuple, posts))
        for i, (a, b) in enumerate(points):
            for c, d in points[:i]:
                x, y = a - c, b - d
                # Each plot has two pairs of sides; only the pair whose step is nearer to the x axis is taken.
                if -x < y <= x:
                    key = x, y, x * a + y * b
                    sides[key] = sides.get(key, 0) + 1
        return sum(many * (many - 1) // 2 for many in sides.values())
