class Solution:
    def winningKnocks(self, rows):
        values = [0, 0]
        for length in range(2, max(rows) + 1):
            reached = {
                values[left] ^ values[length - size - left] for size in (2, 3) for left in range(length - size + 1)
            }
            values.append(next(value for value in range(length + 1) if value not in reached))
        whole = 0
        for row in rows:
            whole ^= values[row]
        found = 0
        for row in set(rows):
            goal = whole ^ values[row]
            found += sum(
                values[left] ^ values[row - size - left] == goal
                for size in (2, 3)
                for left in range((row - size) // 2 + 1)
            )
        return found if whole else 0
