from heapq import heappop, heappush


class Solution:
    def fired(self, orders):
        heap, total = [], 0
        for hours, due in sorted(orders, key=lambda order: order[1]):
            heappush(heap, -hours)
            total += hours
            if total > due:
                total += heappop(heap)
        return [len(heap), total]
