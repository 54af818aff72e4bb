from heapq import heappop, heappush


class Solution:
    def heaviest(self, crossings):
        on, load, best = [], 0, (0, 0)
        for enter, leave, weight in sorted(crossings):
            while on and on[0][0] < enter:
                load -= heappop(on)[1]
            heappush(on, (leave, weight))
            load += weight
            if load > best[1]:
                best = enter, load
        return list(best)
