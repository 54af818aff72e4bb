class Solution:
    def leastCost(self, pay, quarrel):
        best = None
        for start in range(len(pay)):
            cost, order = pay[start][0], [start]
            while len(order) < len(pay):
                free = [i for i in range(len(pay)) if i not in order]
                i = min(free, key=lambda i: pay[i][len(order)] + quarrel[order[-1]][i])
                cost += pay[i][len(order)] + quarrel[order[-1]][i]
                order.append(i)
            best = cost if best is None else min(best, cost)
        return best
