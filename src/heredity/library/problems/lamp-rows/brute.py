class Solution:
    def bright(self, rows, columns, pulls):
        lamps = [[0] * columns for _ in range(rows)]
        for side, number in pulls:
            for row in range(rows):
                for column in range(columns):
                    if (row, column)[side] == number:
                        lamps[row][column] += 1
        return sum(lamp % 3 == 2 for row in lamps for lamp in row)
