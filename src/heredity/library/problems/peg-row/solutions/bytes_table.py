class Solution:
    def winningKnocks(self, rows):
        high = max(rows)
        values = bytearray(high + 1)
        for length in range(2, high + 1):
            reached = {a ^ b for a, b in zip(values[: length - 1], values[length - 2 :: -1])}
            if length > 2:
                reached |= {a ^ b for a, b in zip(values[: length - 2], values[length - 3 :: -1])}
            values[length] = next(value for value in range(256) if value not in reached)
        whole = 0
        for row in rows:
            whole ^= values[row]
        wins = {}
        for row in set(rows) if whole else ():
            goal = whole ^ values[row]
            wins[row] = sum(
                values[left] ^ values[row - size - left] == goal for size in (2, 3) for left in range(row - size + 1)
            )
        return sum(wins.get(row, 0) for row in rows)
