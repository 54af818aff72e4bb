from heapq import heapify, heapreplace


class Solution:
    def loneMinute(self, periods, k):
        if all(any(j != i and a % b == 0 for j, b in enumerate(periods)) for i, a in enumerate(periods)):
            return -1
        heap = [(period, period) for period in periods]
        heapify(heap)
        while True:
            minute, rings = heap[0][0], 0
            while heap[0][0] == minute:
                heapreplace(heap, (minute + heap[0][1], heap[0][1]))
                rings += 1
            if rings == 1:
                k -= 1
                if not k:
                    return minute
