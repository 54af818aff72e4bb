from heapq import heapify, heappop


class Solution:
    def saw(self, weights):
        whole, left, heap = sum(weights), 0, []
        for cut in range(1, len(weights)):
            left += weights[cut - 1]
            heap.append((abs(whole - left - left), cut))
        heapify(heap)
        return heappop(heap)[1]
