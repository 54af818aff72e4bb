from heapq import heappop, heappush


class Solution:
    def latestArrival(self, towns, roads, start):
        order = sorted(range(len(roads)), key=lambda road: roads[road][0])
        first = {}
        for rank in range(len(order) - 1, -1, -1):
            first[roads[order[rank]][0]] = rank
        arrival = {}
        waiting = [(0, start)]
        while waiting:
            time, town = heappop(waiting)
            if town in arrival:
                continue
            arrival[town] = time
            rank = first.get(town, len(order))
            while rank < len(order):
                a, b, hours = roads[order[rank]]
                if a != town:
                    break
                if b not in arrival:
                    heappush(waiting, (time + hours, b))
                rank += 1
        return max(arrival.values()) if len(arrival) == towns else -1
