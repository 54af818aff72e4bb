from heapq import heappop, heappush


class Solution:
    def second(self, count, ways):
        near = [[] for _ in range(count)]
        for a, b, cost in ways:
            near[a].append((b, cost))
            if a != b:
                near[b].append((a, cost))
        heap, times, found = [(0, 0)], [0] * count, []
        while heap:
            cost, a = heappop(heap)
            if times[a] == 2:
                continue
            times[a] += 1
            if a == count - 1:
                found.append(cost)
            for b, more in near[a]:
                heappush(heap, (cost + more, b))
        return found[1] if len(found) == 2 else -1
