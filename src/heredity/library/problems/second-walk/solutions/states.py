from heapq import heappop, heappush


class Solution:
    def second(self, count, ways):
        near = {a: [] for a in range(count)}
        for a, b, cost in ways:
            near[a].append((b, cost))
            near[b].append((a, cost))
        taken, heap = set(), [(0, 0)]
        times = dict.fromkeys(range(count), 0)
        while heap:
            state = heappop(heap)
            cost, a = state
            if state in taken or times[a] == 2:
                continue
            taken.add(state)
            times[a] += 1
            if a == count - 1 and times[a] == 2:
                return cost
            for b, more in near[a]:
                if times[b] < 2 and (cost + more, b) not in taken:
                    heappush(heap, (cost + more, b))
        return -1
