from heapq import heappop, heappush


class Solution:
    def arrival(self, stations, lines, start, goal, now):
        leaving = [[] for _ in range(stations)]
        for a, b, period, minutes in lines:
            leaving[a].append((b, period, minutes))
        best, heap = {}, [(now, start)]
        while heap:
            time, a = heappop(heap)
            if a in best:
                continue
            best[a] = time
            for b, period, minutes in leaving[a]:
                heappush(heap, ((time // period + 1) * period + minutes, b))
        return best.get(goal, -1)
