from heapq import heappop, heappush


class Solution:
    def latestArrival(self, towns, roads, start):
        leaving = [[] for _ in range(towns)]
        for a, b, hours in roads:
            leaving[a].append((b, hours))
        arrival = [float("inf")] * towns
        arrival[start] = 0
        waiting = [(0, start)]
        while waiting:
            time, town = heappop(waiting)
            if time == arrival[town]:
                for other, hours in leaving[town]:
                    if time + hours < arrival[other]:
                        arrival[other] = time + hours
                        heappush(waiting, (time + hours, other))
        last = max(arrival)
        return -1 if last == float("inf") else last
