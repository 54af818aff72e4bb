class Solution:
    def plots(self, posts):
        found, points = 0, {tuple(post) for post in posts}
        for a, b in posts:
            for c, d in posts:
                found += a < c and b < d and (a, d) in points and (c, b) in points
        return found
