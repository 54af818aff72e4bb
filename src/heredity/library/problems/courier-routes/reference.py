import heapq


class Solution:
    def latestArrival(self, towns, roads, start):
        leaving = [[] for _ in range(towns)]
        for a, b, hours in roads:
            leaving[a].append((b, hours))
        arrival = [None] * towns
        waiting = [(0, start)]
        reached = last = 0
        while waiting:
            time, town = heapq.heappop(waiting)
            if arrival[town] is not None:
                continue
            arrival[town] = last = time
            reached += 1
            for other, hours in leaving[town]:
                if arrival[other] is None:
                    heapq.heappush(waiting, (time + hours, other))
        return last if reached == towns else -1
