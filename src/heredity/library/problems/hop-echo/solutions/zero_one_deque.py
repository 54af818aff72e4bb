from collections import deque


class Solution:
    def heard(self, count, calls, sources, hops):
        near = [set() for _ in range(count)]
        for a, b in calls:
            near[a].add(b)
        best = {}
        queue = deque((a, 0) for a in sources)
        while queue:
            a, hop = queue.popleft()
            if a in best:
                continue
            best[a] = hop
            queue.extend((b, hop + 1) for b in near[a] if b not in best)
        return sorted([a for a in best if best[a] == hops])
