class Solution:
    def bright(self, rows, columns, pulls):
        times = {}, {}
        for side, number in pulls:
            times[side][number] = times[side].get(number, 0) + 1
        down, across = [rows - len(times[0]), 0, 0], [columns - len(times[1]), 0, 0]
        for count, made in ((down, times[0]), (across, times[1])):
            for pulled in made.values():
                count[pulled % 3] += 1
        return down[0] * across[2] + down[1] * across[1] + down[2] * across[0]
