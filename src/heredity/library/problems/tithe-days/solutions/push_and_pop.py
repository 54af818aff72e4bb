from heapq import heappop, heappush


class Solution:
    def collected(self, coins, days):
        heap, total = [], 0
        for c in coins:
            heappush(heap, -c)
        for _ in range(days):
            most = -heappop(heap)
            tithe = (most + 9) // 10
            total += tithe
            heappush(heap, tithe - most)
        return total
