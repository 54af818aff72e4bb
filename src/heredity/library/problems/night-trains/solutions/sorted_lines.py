from bisect import bisect_left
from heapq import heappop, heappush


class Solution:
    def arrival(self, stations, lines, start, goal, now):
        lines = sorted(map(tuple, lines))
        best, heap = {}, [(now, start)]
        while heap and goal not in best:
            time, a = heappop(heap)
            if a in best:
                continue
            best[a] = time
            at = bisect_left(lines, (a,))
            while at < len(lines) and lines[at][0] == a:
                _, b, period, minutes = lines[at]
                if b not in best:
                    heappush(heap, (-(-time // period) * period + minutes, b))
                at += 1
        return best.get(goal, -1)
