import heapq


class Solution:
    def collected(self, coins, days):
        heap, total = [-c for c in coins], 0
        heapq.heapify(heap)
        for _ in range(days):
            tithe = -heap[0] // 10
            total += tithe
            heapq.heapreplace(heap, heap[0] + tithe)
        return total
