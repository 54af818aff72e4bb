from collections import deque


class Solution:
    def unlit(self, count, tracks, lamps):
        near = {a: set() for a in range(count)}
        for a, b in tracks:
            near[a].add(b)
            near[b].add(a)
        dark = set(range(count)) - set(lamps)
        queue = deque(set(lamps))
        while queue:
            fresh = {b for b in near[queue.popleft()] if b in dark}
            dark -= fresh
            queue.extend(fresh)
        return len(dark)
