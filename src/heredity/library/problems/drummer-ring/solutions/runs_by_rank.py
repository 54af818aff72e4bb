from itertools import groupby


class Solution:
    def coins(self, skills):
        start = skills.index(min(skills))
        runs = [(skill, len(list(run))) for skill, run in groupby(skills[start:] + skills[:start])]
        if len(runs) > 1 and runs[0][0] == runs[-1][0]:
            runs[0] = runs[0][0], runs[0][1] + runs.pop()[1]
        coins = [0] * len(runs)
        for i in sorted(range(len(runs)), key=lambda one: runs[one][0]):
            # Both neighbours that matter, the less skilled ones, have their coins already; the others have none.
            coins[i] = max(coins[i - 1], coins[(i + 1) % len(runs)]) + 1
        return sum(coin * length for coin, (_, length) in zip(coins, runs))
