from heapq import heappop, heappush


class Solution:
    def tastings(self, teas, low, high):
        def up_to(kinds):
            heap, last, start, total = [], {}, 0, 0
            for place, tea in enumerate(teas):
                last[tea] = place
                heappush(heap, (place, tea))
                while len(last) > kinds:
                    at, old = heappop(heap)
                    if last.get(old) == at:
                        del last[old]
                        start = at + 1
                total += place + 1 - start
            return total

        return up_to(high) - up_to(low - 1)
