from heapq import heapify, heappop


class Solution:
    def leftover(self, sold, place):
        heap = list(set(sold))
        heapify(heap)
        while heap and heappop(heap) <= place:
            place += 1
        return place
