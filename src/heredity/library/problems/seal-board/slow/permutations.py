from itertools import permutations


class Solution:
    def waysToSeal(self, size, worn):
        squares = [tuple(square) for square in worn]
        return sum(
            len({row + c for row, c in enumerate(order)}) == size == len({row - c for row, c in enumerate(order)})
            and not any(order[row] == c for row, c in squares)
            for order in permutations(range(size))
        )
