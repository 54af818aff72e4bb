from heapq import heappop, heappush


class Solution:
    def cheapest(self, colours, prices):
        goal, used = tuple(colours), sorted(set(colours))
        done, waiting = set(), [(0, (-1,) * len(colours))]
        while True:
            cost, fence = heappop(waiting)
            if fence == goal:
                return cost
            if fence in done:
                continue
            done.add(fence)
            for start in range(len(goal)):
                for stop in range(start + 1, len(goal) + 1):
                    for colour in used:
                        new = fence[:start] + (colour,) * (stop - start) + fence[stop:]
                        if new not in done:
                            heappush(waiting, (cost + prices[colour], new))
