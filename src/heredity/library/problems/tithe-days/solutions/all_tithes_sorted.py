from heapq import nlargest


class Solution:
    def collected(self, coins, days):
        if not days:
            return 0
        floor = sorted(coins, reverse=True)[min(days, len(coins)) - 1]
        if days > len(coins):
            heavy, floor = sorted(coins, reverse=True), 0
        else:
            heavy = [c for c in coins if c >= floor]
        amounts = []
        for c in heavy:
            steps = 0
            while c and c >= floor and steps < days:
                amounts.append(c)
                c, steps = c * 9 // 10, steps + 1
            if len(amounts) > 4 * days + 1000:
                amounts = nlargest(days, amounts)
                floor = max(floor, amounts[-1])
        amounts.sort(reverse=True)
        return sum((c + 9) // 10 for c in amounts[:days])
