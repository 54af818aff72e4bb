from dataclasses import dataclass


@dataclass(frozen=True)
class Diagonal:
    x: int
    y: int
    square: int


class Solution:
    def plots(self, posts):
        diagonals = {}
        for i, (a, b) in enumerate(posts):
            for c, d in posts[i + 1 :]:
                one = Diagonal(a + c, b + d, (a - c) ** 2 + (b - d) ** 2)
                diagonals[one] = diagonals.get(one, 0) + 1
        return sum(many * (many - 1) // 2 for many in diagonals.values())
