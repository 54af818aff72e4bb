class Solution:
    def bright(self, rows, columns, pulls):
        times = {}, {}
        for side, number in pulls:
            times[side][number] = times[side].get(number, 0) + 1
        row = sum(pulled % 2 for pulled in times[0].values())
        column = sum(pulled % 2 for pulled in times[1].values())
        return row * (columns - column) + column * (rows - row)
