from heapq import heapify, heapreplace, nlargest


class Solution:
    def collected(self, coins, days):
        heap, total = [-c for c in nlargest(days, coins)], 0
        heapify(heap)
        for _ in range(days):
            most = -heap[0]
            total += -(-most // 10)
            heapreplace(heap, -(most * 9 // 10))
        return total
