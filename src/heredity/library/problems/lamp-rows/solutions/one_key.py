class Solution:
    def bright(self, rows, columns, pulls):
        times = {}
        for side, number in pulls:
            key = 2 * number + side
            times[key] = times.get(key, 0) + 1
        down, across = [0] * 3, [0] * 3
        for key, pulled in times.items():
            (across if key & 1 else down)[pulled % 3] += 1
        down[0] = rows - down[1] - down[2]
        across[0] = columns - across[1] - across[2]
        return sum(a * b for i, a in enumerate(down) for j, b in enumerate(across) if (i + j) % 3 == 2)
