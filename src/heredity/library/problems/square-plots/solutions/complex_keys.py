from itertools import combinations


class Solution:
    def plots(self, posts):
        diagonals = {}
        for one, other in combinations([complex(*post) for post in posts], 2):
            far = one - other
            key = one + other, int(far.real) ** 2 + int(far.imag) ** 2
            diagonals[key] = diagonals.get(key, 0) + 1
        return sum(many * (many - 1) // 2 for many in diagonals.values())
