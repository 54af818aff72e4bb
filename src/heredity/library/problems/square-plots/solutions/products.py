class Solution:
    def plots(self, posts):
        # The length is told by the product of the ends: with the same middle it falls as the length grows.
        diagonals, found = {}, 0
        squares = [a * a + b * b for a, b in posts]
        for i, (a, b) in enumerate(posts):
            square = squares[i]
            for (c, d), other in zip(posts, squares[:i]):
                key = a + c, b + d, square + other
                many = diagonals.get(key, 0)
                diagonals[key] = many + 1
                found += many
        return found
