class Solution:
    def bestLead(self, coins):
        count = len(coins)
        layers = [{(m, y): [0] * (count + 1) for m in (0, 1) for y in (0, 1)}]
        for length in range(1, count + 1):
            one, two = layers[-1], layers[-2] if length > 1 else None
            layer = {}
            for mine, yours in one:
                after = one[yours, mine]
                row = [
                    max(coins[s] - after[s + 1], coins[s + length - 1] - after[s]) for s in range(count - length + 1)
                ]
                if mine and two:
                    after = two[yours, 0]
                    for s in range(count - length + 1):
                        left, right = coins[s] + coins[s + 1], coins[s + length - 1] + coins[s + length - 2]
                        row[s] = max(row[s], left - after[s + 2], right - after[s])
                layer[mine, yours] = row + [0] * 2
            layers = [*layers[-1:], layer]
        return layers[-1][1, 1][0]
