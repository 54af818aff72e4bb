from bisect import bisect_left, bisect_right


class Solution:
    def bright(self, rows, columns, pulls):
        cords = [sorted(number for side, number in pulls if side == wanted) for wanted in (0, 1)]
        states = []
        for cord, size in zip(cords, (rows, columns)):
            count = [size, 0, 0]
            for number in set(cord):
                pulled = bisect_right(cord, number) - bisect_left(cord, number)
                count[0] -= 1
                count[pulled % 3] += 1
            states.append(count)
        down, across = states
        return down[0] * across[2] + down[1] * across[1] + down[2] * across[0]
