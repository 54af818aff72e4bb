import heapq


class Solution:
    def leastWaiting(self, cloths, rest):
        heap = [((hours + rest) / impatience, hours, impatience) for hours, impatience in cloths]
        heapq.heapify(heap)
        clock = cost = 0
        while heap:
            _, hours, impatience = heapq.heappop(heap)
            cost += (clock + hours) * impatience
            clock += hours + rest
        return cost
