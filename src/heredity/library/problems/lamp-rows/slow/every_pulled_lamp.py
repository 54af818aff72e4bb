class Solution:
    def bright(self, rows, columns, pulls):
        times = {}, {}
        for side, number in pulls:
            times[side][number] = times[side].get(number, 0) + 1
        total = 0
        for row in times[0].values():
            for column in times[1].values():
                if (row + column) % 3 == 2:
                    total += 1
        total += (columns - len(times[1])) * sum(row % 3 == 2 for row in times[0].values())
        return total + (rows - len(times[0])) * sum(column % 3 == 2 for column in times[1].values())
