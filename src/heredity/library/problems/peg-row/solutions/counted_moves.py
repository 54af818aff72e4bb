from collections import Counter


class Solution:
    def winningKnocks(self, rows):
        values, tables = [], []
        for length in range(max(rows) + 1):
            table = Counter(
                values[left] ^ values[length - size - left] for size in (2, 3) for left in range(length - size + 1)
            )
            value = 0
            while value in table:
                value += 1
            values.append(value)
            tables.append(table)
        whole = 0
        for row in rows:
            whole ^= values[row]
        return sum(tables[row][whole ^ values[row]] for row in rows) if whole else 0
