class Solution:
    def latestArrival(self, towns, roads, start):
        leaving = [[] for _ in range(towns)]
        for a, b, hours in roads:
            leaving[a].append((b, hours))
        arrival = {start: 0}
        order = [start]
        for town in order:
            for other, hours in leaving[town]:
                if other not in arrival:
                    arrival[other] = arrival[town] + hours
                    order.append(other)
        return max(arrival.values()) if len(arrival) == towns else -1
