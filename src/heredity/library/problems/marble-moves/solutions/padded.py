class Solution:
    def winningHeaps(self, most, handfuls):
        pad = max(handfuls)
        wins = [True] * pad + [False]
        for heap in range(pad + 1, pad + most + 1):
            for handful in handfuls:
                if not wins[heap - handful]:
                    wins.append(True)
                    break
            else:
                wins.append(False)
        return sum(wins[pad:])
