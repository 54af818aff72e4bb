class Solution:
    def winningKnocks(self, rows):
        memory = {0: 0, 1: 0}

        def value(row):
            if row not in memory:
                reached = set()
                for size in (2, 3):
                    for left in range((row - size) // 2 + 1):
                        reached.add(value(left) ^ value(row - size - left))
                number = 0
                while number in reached:
                    number += 1
                memory[row] = number
            return memory[row]

        whole = 0
        for row in sorted(rows):
            whole ^= value(row)
        if whole == 0:
            return 0
        wins = {}
        for row in rows:
            if row in wins:
                continue
            goal, wins[row] = whole ^ value(row), 0
            for size in (2, 3):
                for left in range(row - size + 1):
                    wins[row] += value(left) ^ value(row - size - left) == goal
        return sum(wins[row] for row in rows)
