from heapq import heappop, heappush
from itertools import groupby


class Solution:
    def fired(self, orders):
        heap, total = [], 0
        for due, group in groupby(sorted(orders, key=lambda order: order[1]), key=lambda order: order[1]):
            for hours, _ in group:
                heappush(heap, -hours)
                total += hours
            while total > due:
                total += heappop(heap)
        return [len(heap), total]
