from heapq import heappop, heappush


class Solution:
    def latestArrival(self, towns, roads, start):
        begin = [0] * (towns + 1)
        for a, _, _ in roads:
            begin[a + 1] += 1
        for town in range(towns):
            begin[town + 1] += begin[town]
        free, ends, costs = begin[:], [0] * len(roads), [0] * len(roads)
        for a, b, hours in roads:
            ends[free[a]], costs[free[a]] = b, hours
            free[a] += 1
        arrival = [-1] * towns
        waiting, last, reached = [(0, start)], 0, 0
        while waiting:
            time, town = heappop(waiting)
            if arrival[town] >= 0:
                continue
            arrival[town] = last = time
            reached += 1
            for road in range(begin[town], begin[town + 1]):
                if arrival[ends[road]] < 0:
                    heappush(waiting, (time + costs[road], ends[road]))
        return last if reached == towns else -1
