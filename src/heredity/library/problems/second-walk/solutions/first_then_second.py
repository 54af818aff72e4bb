from heapq import heappop, heappush


class Solution:
    def second(self, count, ways):
        near = [[] for _ in range(count)]
        for a, b, cost in ways:
            near[a].append((b, cost))
            near[b].append((a, cost))
        first, heap = {}, [(0, 0)]
        while heap:
            cost, a = heappop(heap)
            if a not in first:
                first[a] = cost
                for b, more in near[a]:
                    heappush(heap, (cost + more, b))
        second = {}
        for a, cost in first.items():
            for b, more in near[a]:
                if cost + more > first[b]:
                    heappush(heap, (cost + more, b))
        while heap:
            cost, a = heappop(heap)
            if a not in second:
                second[a] = cost
                for b, more in near[a]:
                    if b not in second:
                        heappush(heap, (cost + more, b))
        return second.get(count - 1, -1)
