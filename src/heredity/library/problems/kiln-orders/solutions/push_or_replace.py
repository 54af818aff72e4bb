from heapq import heappush, heappushpop


class Solution:
    def fired(self, orders):
        orders.sort(key=lambda order: order[1])
        heap, total = [], 0
        for hours, due in orders:
            if total + hours <= due:
                heappush(heap, -hours)
                total += hours
            else:
                total += hours + heappushpop(heap, -hours)
        return [len(heap), total]
