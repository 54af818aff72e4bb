class Solution:
    def winningHeaps(self, most, handfuls):
        order = sorted(handfuls, reverse=True)
        wins = [False]
        for heap in range(1, most + 1):
            wins.append(next((not wins[heap - handful] for handful in order if handful <= heap), False))
        return sum(wins)
