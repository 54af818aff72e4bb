import heapq


class Solution:
    def latestArrival(self, towns, roads, start):
        leaving = [[] for _ in range(towns)]
        for a, b, hours in roads:
            leaving[a].append((b, hours))
            leaving[b].append((a, hours))
        arrival, waiting = {}, [(0, start)]
        while waiting:
            time, town = heapq.heappop(waiting)
            if town not in arrival:
                arrival[town] = time
                for other, hours in leaving[town]:
                    heapq.heappush(waiting, (time + hours, other))
        return max(arrival.values()) if len(arrival) == towns else -1
