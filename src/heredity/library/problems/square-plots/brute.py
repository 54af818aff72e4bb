from itertools import combinations


class Solution:
    def plots(self, posts):
        def rectangle(corners):
            o, p, q, r = corners
            for a, b, c in ((p, q, r), (q, r, p), (r, p, q)):
                # a and b beside o, c across.
                square = (a[0] - o[0]) * (b[0] - o[0]) + (a[1] - o[1]) * (b[1] - o[1]) == 0
                if square and a[0] + b[0] - o[0] == c[0] and a[1] + b[1] - o[1] == c[1]:
                    return True
            return False

        return sum(rectangle(corners) for corners in combinations(posts, 4))
