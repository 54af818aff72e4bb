from heapq import heapify, heappop


class Solution:
    def unwatched(self, watches):
        heapify(watches)
        _, last = heappop(watches)
        best, gap = 0, []
        while watches:
            start, end = heappop(watches)
            if start - last > best:
                best, gap = start - last, [last, start]
            last = max(last, end)
        return gap
