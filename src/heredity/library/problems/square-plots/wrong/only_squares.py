class Solution:
    def plots(self, posts):
        points, found = {tuple(post) for post in posts}, 0
        for a, b in points:
            for c, d in points:
                found += (a, b) != (c, d) and (c - d + b, d + c - a) in points and (a - d + b, b + c - a) in points
        return found // 4
