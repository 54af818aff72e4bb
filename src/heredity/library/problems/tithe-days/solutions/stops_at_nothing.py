from heapq import heapify, heapreplace


class Solution:
    def collected(self, coins, days):
        heap = [-c for c in coins if c]
        heapify(heap)
        before = sum(heap)
        while days and heap and heap[0]:
            days -= 1
            heapreplace(heap, -(-heap[0] * 9 // 10))
        return sum(heap) - before
