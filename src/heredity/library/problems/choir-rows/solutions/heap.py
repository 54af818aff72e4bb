from heapq import heapify, heappop


class Solution:
    def lineUp(self, names, heights):
        heap = [(-height, name) for name, height in zip(names, heights)]
        heapify(heap)
        left, right = [], []
        while heap:
            (left if (len(left) + len(right)) % 2 else right).append(heappop(heap)[1])
        return left[::-1] + right
