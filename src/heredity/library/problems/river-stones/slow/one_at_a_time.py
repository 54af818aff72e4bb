import heapq


class Solution:
    def shortestStride(self, stones, more):
        stones.sort()
        heap = [(a - b, b - a, 1) for a, b in zip(stones, stones[1:])]
        heapq.heapify(heap)
        for _ in range(more):
            _, gap, parts = heap[0]
            heapq.heapreplace(heap, (-(-(-gap // (parts + 1))), gap, parts + 1))
            if heap[0][0] == -1 and gap == 0:
                break
        return -heap[0][0]
