import heapq
import math


class Solution:
    def collected(self, coins, days):
        heap, total = [-float(c) for c in coins], 0.0
        heapq.heapify(heap)
        for _ in range(days):
            tithe = math.floor(-heap[0] * 0.1 + 1)
            total += tithe
            heapq.heapreplace(heap, heap[0] + tithe)
        return int(total)
