class Solution:
    def latestArrival(self, towns, roads, start):
        never = float("inf")
        arrival = [never] * towns
        arrival[start] = 0
        for _ in range(towns):
            for a, b, hours in roads:
                arrival[b] = min(arrival[b], arrival[a] + hours)
        return -1 if never in arrival else max(arrival)
