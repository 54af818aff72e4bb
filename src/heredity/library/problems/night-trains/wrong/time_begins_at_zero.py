from heapq import heappop, heappush


class Solution:
    def arrival(self, stations, lines, start, goal, now):
        leaving = [[] for _ in range(stations)]
        for a, b, period, minutes in lines:
            leaving[a].append((b, period, minutes))
        best, heap = {}, [(0, start)]
        while heap:
            time, a = heappop(heap)
            if a not in best:
                best[a] = time
                for b, period, minutes in leaving[a]:
                    heappush(heap, (time + -time % period + minutes, b))
        return best[goal] + now if goal in best else -1
