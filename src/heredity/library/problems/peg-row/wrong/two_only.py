class Solution:
    def winningKnocks(self, rows):
        values = [0, 0]
        for length in range(2, max(rows) + 1):
            reached = {values[left] ^ values[length - 2 - left] for left in range(length - 1)}
            values.append(next(value for value in range(length) if value not in reached))
        whole = 0
        for row in rows:
            whole ^= values[row]
        return (
            sum(whole ^ values[row] == values[left] ^ values[row - 2 - left] for row in rows for left in range(row - 1))
            if whole
            else 0
        )
