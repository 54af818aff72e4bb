class Solution:
    def leastCost(self, pay, quarrel):
        count = len(pay)
        layer = {((i,), i): pay[i][0] for i in range(count)}
        for post in range(1, count):
            following = {}
            for (chosen, last), cost in layer.items():
                for i in range(count):
                    if i not in chosen:
                        key = (tuple(sorted((*chosen, i))), i)
                        total = cost + pay[i][post] + quarrel[last][i]
                        following[key] = min(following.get(key, total), total)
            layer = following
        return min(layer.values())
