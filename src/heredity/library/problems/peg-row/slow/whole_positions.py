class Solution:
    def winningKnocks(self, rows):
        def moves(state):
            for place, row in enumerate(state):
                for size in (2, 3):
                    for left in range(row - size + 1):
                        yield state[:place] + (left, row - size - left) + state[place + 1 :]

        def wins(state):
            return any(not wins(after) for after in moves(tuple(row for row in state if row > 1)))

        return sum(not wins(after) for after in moves(tuple(rows)))
