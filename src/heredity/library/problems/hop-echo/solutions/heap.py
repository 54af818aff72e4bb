from heapq import heappop, heappush


class Solution:
    def heard(self, count, calls, sources, hops):
        near = [[] for _ in range(count)]
        for a, b in calls:
            near[a].append(b)
        heap, time = [(0, a) for a in sources], {}
        while heap:
            hop, a = heappop(heap)
            if a not in time:
                time[a] = hop
                for b in near[a]:
                    if b not in time:
                        heappush(heap, (hop + 1, b))
        return sorted(a for a in time if time[a] == hops)
