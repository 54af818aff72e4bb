class Solution:
    def winningKnocks(self, rows):
        values = [0, 0]

        def splits(row):
            """What the moves of a row leave, with how many moves leave it."""
            for size in (2, 3):
                rest = row - size
                for left in range(rest // 2 + 1):
                    if rest >= 0:
                        yield values[left] ^ values[rest - left], 1 if 2 * left == rest else 2

        for length in range(2, max(rows) + 1):
            reached = {value for value, _ in splits(length)}
            values.append(min(set(range(len(reached) + 1)) - reached))
        whole = 0
        for row in rows:
            whole ^= values[row]
        if not whole:
            return 0
        wins = {row: sum(count for value, count in splits(row) if value == whole ^ values[row]) for row in set(rows)}
        return sum(wins[row] for row in rows)
