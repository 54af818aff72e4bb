from heapq import heapify, heappop, heappush


class Solution:
    def collected(self, coins, days):
        queue = [(-c, house) for house, c in enumerate(coins)]
        heapify(queue)
        given = [0] * len(coins)
        for _ in range(days):
            most, house = heappop(queue)
            tithe = (9 - most) // 10
            given[house] += tithe
            heappush(queue, (most + tithe, house))
        return sum(given)
