class Solution:
    def plots(self, posts):
        points, found = {tuple(post) for post in posts}, 0
        for a, b in posts:
            for c, d in posts:
                for e, f in posts:
                    # A right angle at the first.
                    if (c - a) * (e - a) + (d - b) * (f - b) == 0 and (c, d) != (a, b) != (e, f):
                        found += (c + e - a, d + f - b) in points
        return found // 8
