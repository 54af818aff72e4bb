from heapq import heappop, heappush


class Solution:
    def arrival(self, stations, lines, start, goal, now):
        leaving = [[] for _ in range(stations)]
        for a, b, period, minutes in lines:
            leaving[a].append((b, period, minutes))
        best, heap = [None] * stations, [(now, start)]
        while heap:
            time, a = heappop(heap)
            if best[a] is not None:
                continue
            if a == goal:
                return time
            best[a] = time
            for b, period, minutes in leaving[a]:
                if best[b] is None:
                    heappush(heap, (time + -time % period + minutes, b))
        return -1
