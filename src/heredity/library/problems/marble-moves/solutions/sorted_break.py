class Solution:
    def winningHeaps(self, most, handfuls):
        handfuls.sort()
        wins = [0]
        for heap in range(1, most + 1):
            for handful in handfuls:
                if handful > heap:
                    wins.append(0)
                    break
                if not wins[-handful]:
                    wins.append(1)
                    break
            else:
                wins.append(0)
        return sum(wins)
