import heapq


class Solution:
    def shortestStride(self, stones, more):
        stones.sort()
        gaps = [b - a for a, b in zip(stones, stones[1:])]
        span = stones[-1] - stones[0]
        if more > 10 * len(gaps):
            low, high = 1, max(gaps)
            while low < high:
                middle = (low + high) // 2
                if sum((gap - 1) // middle for gap in gaps) <= more:
                    high = middle
                else:
                    low = middle + 1
            return low
        heap, left = [], more
        for gap in gaps:
            parts = max(1, gap * more // span)
            left -= parts - 1
            heap.append((gap // -parts, gap, parts))
        heapq.heapify(heap)
        while left > 0 and heap[0][0] < -1:
            _, gap, parts = heap[0]
            heapq.heapreplace(heap, (gap // -(parts + 1), gap, parts + 1))
            left -= 1
        return -heap[0][0]
