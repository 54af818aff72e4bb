class Solution:
    def latestArrival(self, towns, roads, start):
        never = float("inf")
        arrival = [never] * towns
        arrival[start] = 0
        changed = True
        while changed:
            changed = False
            for a, b, hours in roads:
                if arrival[a] + hours < arrival[b]:
                    arrival[b] = arrival[a] + hours
                    changed = True
        return -1 if never in arrival else max(arrival)
