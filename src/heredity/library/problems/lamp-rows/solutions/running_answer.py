class Solution:
    def bright(self, rows, columns, pulls):
        # The lamps of each state are kept after each pull.
        turned = [{}, {}]
        count = [[rows, 0, 0], [columns, 0, 0]]
        lamps = [rows * columns, 0, 0]
        for side, number in pulls:
            old = turned[side].get(number, 0)
            turned[side][number] = (old + 1) % 3
            for i in range(3):
                lamps[(old + i) % 3] -= count[1 - side][i]
                lamps[(old + i + 1) % 3] += count[1 - side][i]
            count[side][old] -= 1
            count[side][(old + 1) % 3] += 1
        return lamps[2]
