import heapq


class Solution:
    def fewestCuts(self, ribbons):
        heap = list(set(ribbons))
        heapq.heapify(heap)
        piece = heapq.heappop(heap)
        while heap:
            rest = heapq.heappop(heap) % piece
            if rest:
                heapq.heappush(heap, piece)
                piece = rest
        return sum(ribbon // piece - 1 for ribbon in ribbons)
