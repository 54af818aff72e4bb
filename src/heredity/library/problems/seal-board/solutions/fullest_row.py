class Solution:
    def waysToSeal(self, size, worn):
        free = [set(range(size)) for _ in range(size)]
        for row, column in worn:
            free[row].discard(column)
        order = sorted(range(size), key=lambda row: (len(free[row]), abs(2 * row - size)))
        columns, sums, gaps = set(), set(), set()

        def ways(place):
            if place == size:
                return 1
            row, total = order[place], 0
            for c in free[row]:
                if c not in columns and row + c not in sums and row - c not in gaps:
                    columns.add(c)
                    sums.add(row + c)
                    gaps.add(row - c)
                    total += ways(place + 1)
                    columns.remove(c)
                    sums.remove(row + c)
                    gaps.remove(row - c)
            return total

        return ways(0)
