from heapq import heappop, heappush


class Solution:
    def second(self, count, ways):
        near = [[] for _ in range(count)]
        for a, b, cost in ways:
            near[a].append((b, cost))
            near[b].append((a, cost))

        def costs(start):
            best, heap = {}, [(0, start)]
            while heap:
                cost, a = heappop(heap)
                if a not in best:
                    best[a] = cost
                    for b, more in near[a]:
                        heappush(heap, (cost + more, b))
            return best

        start, end = costs(0), costs(count - 1)
        if count - 1 not in start:
            return -1
        least = start[count - 1]
        over = [start[a] + cost + end[b] for a, b, cost in ways if a in start and a < b and b in end]
        return min((cost for cost in over if cost > least), default=-1)
