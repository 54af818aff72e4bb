from collections import Counter
from heapq import heapify, heappop, heappush


class Solution:
    def collected(self, coins, days):
        count, total = Counter(coins), 0
        heap = [-c for c in count]
        heapify(heap)
        while days:
            most = -heappop(heap)
            if most == 0:
                break
            houses = min(days, count[most])
            count[most] -= houses
            if count[most]:
                heappush(heap, -most)
            days -= houses
            tithe = (most + 9) // 10
            total += tithe * houses
            if not count[most - tithe]:
                heappush(heap, tithe - most)
            count[most - tithe] += houses
        return total
