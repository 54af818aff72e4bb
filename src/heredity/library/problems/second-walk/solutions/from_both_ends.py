from heapq import heappop, heappush


class Solution:
    def second(self, count, ways):
        # The best walk that leaves the cheapest ones once: to a, over one way that is not tight, and on from b.
        near = [[] for _ in range(count)]
        for a, b, cost in ways:
            near[a].append((b, cost))
            near[b].append((a, cost))

        def costs(start):
            best, heap = [None] * count, [(0, start)]
            while heap:
                cost, a = heappop(heap)
                if best[a] is None:
                    best[a] = cost
                    for b, more in near[a]:
                        if best[b] is None:
                            heappush(heap, (cost + more, b))
            return best

        start, end = costs(0), costs(count - 1)
        if start[-1] is None:
            return -1
        found = None
        for a in range(count):
            if start[a] is not None:
                for b, cost in near[a]:
                    total = start[a] + cost + end[b]
                    if total > start[-1] and (found is None or total < found):
                        found = total
        return -1 if found is None else found
