from heapq import heapify, heappop


class Solution:
    def leaving(self, buckets):
        heap = [(needed, person) for person, needed in enumerate(buckets)]
        heapify(heap)
        return [heappop(heap)[1] for _ in buckets]
