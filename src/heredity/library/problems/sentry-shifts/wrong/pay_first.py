class Solution:
    def leastCost(self, pay, quarrel):
        count = len(pay)
        best = {0: (0, ())}
        for post in range(count):
            following = {}
            for used, (cost, order) in best.items():
                for i in range(count):
                    if not used >> i & 1:
                        total = cost + pay[i][post] + (quarrel[order[-1]][i] if order else 0)
                        key = used | 1 << i
                        if key not in following or total < following[key][0]:
                            following[key] = (total, (*order, i))
            best = following
        return min(cost for cost, _ in best.values())
