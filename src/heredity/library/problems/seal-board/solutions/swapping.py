class Solution:
    def waysToSeal(self, size, worn):
        blocked = [0] * size
        for row, column in worn:
            blocked[row] |= 1 << column
        order, sums, gaps = list(range(size)), set(), set()

        def ways(row):
            if row == size:
                return 1
            total = 0
            for place in range(row, size):
                c = order[place]
                if row + c not in sums and row - c not in gaps and not blocked[row] >> c & 1:
                    order[row], order[place] = c, order[row]
                    sums.add(row + c)
                    gaps.add(row - c)
                    total += ways(row + 1)
                    sums.discard(row + c)
                    gaps.discard(row - c)
                    order[row], order[place] = order[place], c
            return total

        return ways(0)
