from collections import defaultdict
from heapq import heappop, heappush


class Solution:
    def latestArrival(self, towns, roads, start):
        leaving = defaultdict(dict)
        for a, b, hours in roads:
            if a != b and hours < leaving[a].get(b, 1 << 40):
                leaving[a][b] = hours
        arrival, waiting = {}, [(0, start)]
        while waiting and len(arrival) < towns:
            time, town = heappop(waiting)
            if town not in arrival:
                arrival[town] = time
                for other, hours in leaving[town].items():
                    if other not in arrival:
                        heappush(waiting, (time + hours, other))
        return max(arrival.values()) if len(arrival) == towns else -1
