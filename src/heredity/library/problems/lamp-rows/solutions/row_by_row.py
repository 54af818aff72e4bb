class Solution:
    def bright(self, rows, columns, pulls):
        row, column = {}, {}
        for side, number in pulls:
            made = column if side else row
            made[number] = made.get(number, 0) + 1
        across = [columns - len(column), 0, 0]
        for pulled in column.values():
            across[pulled % 3] += 1
        total = (rows - len(row)) * across[2]
        for pulled in row.values():
            total += across[(2 - pulled) % 3]
        return total
