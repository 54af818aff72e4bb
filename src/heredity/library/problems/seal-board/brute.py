from itertools import permutations


class Solution:
    def waysToSeal(self, size, worn):
        return sum(
            all(abs(a - b) != j - i for i, a in enumerate(order) for j, b in enumerate(order) if i < j)
            and not any(order[row] == column for row, column in worn)
            for order in permutations(range(size))
        )
