class Solution:
    def winningHeaps(self, most, handfuls):
        wins = [True]
        for heap in range(1, most + 1):
            moves = [handful for handful in handfuls if handful <= heap]
            wins.append(not moves or any(not wins[heap - handful] for handful in moves))
        return sum(wins[1:])
