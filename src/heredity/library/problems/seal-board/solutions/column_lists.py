class Solution:
    def waysToSeal(self, size, worn):
        blocked = {tuple(square) for square in worn}

        def ways(row, left, sums, gaps):
            if not left:
                return 1
            total = 0
            for place, c in enumerate(left):
                if not sums >> row + c & 1 and not gaps >> row - c + size & 1 and (row, c) not in blocked:
                    total += ways(
                        row + 1, left[:place] + left[place + 1 :], sums | 1 << row + c, gaps | 1 << row - c + size
                    )
            return total

        return ways(0, list(range(size)), 0, 0)
