class Solution:
    def winningHeaps(self, most, handfuls):
        wins = [False] * (most + 1)
        for heap in range(1, most + 1):
            wins[heap] = any(handful <= heap and not wins[heap - handful] for handful in handfuls)
        return sum(wins)
