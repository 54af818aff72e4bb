class Solution:
    def winningKnocks(self, rows):
        values = [0, 0]
        for length in range(2, max(rows) + 1):
            reached = {values[length - size] for size in (2, 3) if size <= length}
            values.append(next(value for value in range(4) if value not in reached))
        whole = 0
        for row in rows:
            whole ^= values[row]
        return (
            sum(whole ^ values[row] == values[row - size] for row in rows for size in (2, 3) if size <= row)
            if whole
            else 0
        )
