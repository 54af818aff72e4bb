class Solution:
    def waysToSeal(self, size, worn):
        blocked = {tuple(square) for square in worn}
        columns, sums, gaps = set(), set(), set()

        def ways(row):
            if row == size:
                return 1
            total = 0
            for c in range(size):
                if c in columns or row + c in sums or row - c in gaps or (row, c) in blocked:
                    continue
                columns.add(c), sums.add(row + c), gaps.add(row - c)
                total += ways(row + 1)
                columns.remove(c), sums.remove(row + c), gaps.remove(row - c)
            return total

        return ways(0)
