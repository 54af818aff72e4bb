class Solution:
    def winningKnocks(self, rows):
        high = max(rows)
        values = [0, 0]
        for length in range(2, high + 1):
            reached = {values[left] ^ values[length - 2 - left] for left in range(length // 2)}
            reached |= {values[left] ^ values[length - 3 - left] for left in range((length - 1) // 2)}
            value = 0
            while value in reached:
                value += 1
            values.append(value)
        whole = 0
        for row in rows:
            whole ^= values[row]
        if not whole:
            return 0
        moves = {}
        for row in set(rows):
            goal = whole ^ values[row]
            moves[row] = sum(
                values[left] ^ values[row - size - left] == goal for size in (2, 3) for left in range(row - size + 1)
            )
        return sum(moves[row] for row in rows)
