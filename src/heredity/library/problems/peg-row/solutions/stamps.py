class Solution:
    def winningKnocks(self, rows):
        high = max(rows)
        values, stamp = [0] * (high + 1), [-1] * 1024
        for length in range(2, high + 1):
            for left in range((length - 2) // 2 + 1):
                stamp[values[left] ^ values[length - 2 - left]] = length
            for left in range((length - 3) // 2 + 1):
                stamp[values[left] ^ values[length - 3 - left]] = length
            while stamp[values[length]] == length:
                values[length] += 1
        whole = 0
        for row in rows:
            whole ^= values[row]
        wins = [-1] * (high + 1)
        found = 0
        for row in rows:
            if wins[row] < 0:
                goal = whole ^ values[row]
                wins[row] = sum(values[left] ^ values[row - 2 - left] == goal for left in range(row - 1))
                wins[row] += sum(values[left] ^ values[row - 3 - left] == goal for left in range(row - 2))
            found += wins[row]
        return found if whole else 0
