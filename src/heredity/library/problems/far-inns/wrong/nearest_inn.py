from heapq import heappop, heappush


class Solution:
    def farthest(self, roads, inns):
        count = len(roads) + 1
        around = [[] for _ in range(count)]
        for a, b, minutes in roads:
            around[a].append((b, minutes))
            around[b].append((a, minutes))
        far, heap = [-1] * count, [(0, inn) for inn in set(inns)]
        while heap:
            minutes, at = heappop(heap)
            if far[at] < 0:
                far[at] = minutes
                for other, more in around[at]:
                    if far[other] < 0:
                        heappush(heap, (minutes + more, other))
        return far
