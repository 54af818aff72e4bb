from heapq import heappop, heappush


class Solution:
    def latestArrival(self, towns, roads, start):
        leaving = [[] for _ in range(towns)]
        for a, b, hours in roads:
            leaving[a].append((hours << 16) + b)
        # Time and town are one number: heaps compare numbers faster than pairs.
        waiting, done, left, time = [start], bytearray(towns), towns, 0
        while waiting:
            one = heappop(waiting)
            town = one & 65535
            if done[town]:
                continue
            done[town], left, time = 1, left - 1, one >> 16
            base = time << 16
            for road in leaving[town]:
                if not done[road & 65535]:
                    heappush(waiting, base + road)
        return -1 if left else time
