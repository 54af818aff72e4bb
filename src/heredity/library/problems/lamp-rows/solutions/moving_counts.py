class Solution:
    def bright(self, rows, columns, pulls):
        state = {}
        count = [[rows, 0, 0], [columns, 0, 0]]
        for side, number in pulls:
            old = state.get((side, number), 0)
            new = state[side, number] = (old + 1) % 3
            count[side][old] -= 1
            count[side][new] += 1
        down, across = count
        return sum(down[i] * across[(2 - i) % 3] for i in range(3))
