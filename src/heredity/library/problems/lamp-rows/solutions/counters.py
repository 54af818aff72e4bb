from collections import Counter


class Solution:
    def bright(self, rows, columns, pulls):
        row = Counter(number for side, number in pulls if side == 0)
        column = Counter(number for side, number in pulls if side == 1)
        down = Counter(pulled % 3 for pulled in row.values())
        across = Counter(pulled % 3 for pulled in column.values())
        down[0] += rows - len(row)
        across[0] += columns - len(column)
        return sum(down[state] * across[(2 - state) % 3] for state in range(3))
