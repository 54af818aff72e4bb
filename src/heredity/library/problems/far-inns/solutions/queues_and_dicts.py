from collections import deque


class Solution:
    def farthest(self, roads, inns):
        around = {0: {}}
        for a, b, minutes in roads:
            around.setdefault(a, {})[b] = minutes
            around.setdefault(b, {})[a] = minutes

        def distances(start):
            far, queue = {start: 0}, deque([start])
            while queue:
                at = queue.popleft()
                for other, minutes in around[at].items():
                    if other not in far:
                        far[other] = far[at] + minutes
                        queue.append(other)
            return far

        ends = set(inns)
        start = inns[0]
        found = []
        for _ in range(3):
            found.append(distances(start))
            start = max(ends, key=found[-1].get)
        return [max(found[1][at], found[2][at]) for at in range(len(around))]
