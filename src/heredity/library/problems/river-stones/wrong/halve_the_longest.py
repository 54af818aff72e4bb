import heapq


class Solution:
    def shortestStride(self, stones, more):
        stones.sort()
        heap = [a - b for a, b in zip(stones, stones[1:])]
        heapq.heapify(heap)
        for _ in range(min(more, 2000)):
            gap = -heapq.heappop(heap)
            heapq.heappush(heap, -(gap // 2))
            heapq.heappush(heap, gap // 2 - gap)
        return max(1, -heap[0])
