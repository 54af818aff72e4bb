class Solution:
    def waysToSeal(self, size, worn):
        free = [[c for c in range(size) if [row, c] not in worn] for row in range(size)]

        def boards(row, columns, sums, gaps):
            if row == size:
                yield True
                return
            for c in free[row]:
                if not (columns >> c | sums >> row + c | gaps >> row - c + size) & 1:
                    yield from boards(row + 1, columns | 1 << c, sums | 1 << row + c, gaps | 1 << row - c + size)

        return sum(boards(0, 0, 0, 0))
