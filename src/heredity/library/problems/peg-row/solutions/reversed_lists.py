from operator import xor


class Solution:
    def winningKnocks(self, rows):
        values = [0, 0]
        for length in range(2, max(rows) + 1):
            reached = set(map(xor, values[: length - 1], reversed(values[: length - 1])))
            reached.update(map(xor, values[: length - 2], reversed(values[: length - 2])))
            value = 0
            while value in reached:
                value += 1
            values.append(value)
        whole = 0
        for row in rows:
            whole ^= values[row]
        found = 0
        for row in set(rows) if whole else ():
            goal = whole ^ values[row]
            splits = [*map(xor, values[: row - 1], values[row - 2 :: -1])] if row > 1 else []
            splits += [*map(xor, values[: row - 2], values[row - 3 :: -1])] if row > 2 else []
            found += splits.count(goal) * rows.count(row)
        return found
