from heapq import heappop, heappush


class Solution:
    def second(self, count, ways):
        near = [[] for _ in range(count)]
        for a, b, cost in ways:
            near[a].append((b, cost))
            near[b].append((a, cost))
        never = 1 << 60
        first, second = [never] * count, [never] * count
        first[0], heap = 0, [(0, 0)]
        while heap:
            cost, a = heappop(heap)
            if cost > first[a]:
                continue
            for b, more in near[a]:
                more += cost
                if more < first[b]:
                    first[b], second[b] = more, first[b]
                    heappush(heap, (more, b))
                elif first[b] < more < second[b]:
                    second[b] = more
        return second[-1] if second[-1] < never else -1
