class Solution:
    def leastCost(self, pay, quarrel):
        count = len(pay)
        layer = {(1 << i, i): pay[i][0] for i in range(count)}
        for post in range(1, count):
            following = {}
            for (used, last), cost in layer.items():
                for i in range(count):
                    if not used & 1 << i:
                        key = (used | 1 << i, i)
                        total = cost + pay[i][post] + quarrel[last][i]
                        if total < following.get(key, 1 << 60):
                            following[key] = total
            layer = following
        return min(layer.values())
