from collections import deque


class Solution:
    def heard(self, count, calls, sources, hops):
        near, time = [[] for _ in range(count)], [-1] * count
        for a, b in calls:
            near[a].append(b)
        queue = deque()
        for a in sources:
            if time[a] < 0:
                time[a] = 0
                queue.append(a)
        while queue:
            a = queue.popleft()
            for b in near[a]:
                if time[b] < 0:
                    time[b] = time[a] + 1
                    queue.append(b)
        return [a for a in range(count) if time[a] == hops]
