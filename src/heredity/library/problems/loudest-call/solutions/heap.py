from heapq import heapify, heappop


class Solution:
    def loudest(self, calls):
        times, last = {}, {}
        for place, call in enumerate(calls):
            times[call] = times.get(call, 0) + 1
            last[call] = place
        heap = [(-times[call], last[call], call) for call in times]
        heapify(heap)
        return heappop(heap)[2]
