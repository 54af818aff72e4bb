from heapq import heappop, heappush


class Solution:
    def arrival(self, stations, lines, start, goal, now):
        leaving = [[] for _ in range(stations)]
        for a, b, _, minutes in lines:
            leaving[a].append((b, minutes))
        best, heap = {}, [(now, start)]
        while heap:
            time, a = heappop(heap)
            if a not in best:
                best[a] = time
                for b, minutes in leaving[a]:
                    heappush(heap, (time + minutes, b))
        return best.get(goal, -1)
