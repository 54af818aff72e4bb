from collections import deque


class Solution:
    def heard(self, count, calls, sources, hops):
        near = [[] for _ in range(count + 1)]
        for a, b in calls:
            near[a].append(b)
        near[count] = list(sources)
        time, queue = {count: -1}, deque([count])
        while queue:
            a = queue.popleft()
            for b in near[a]:
                if b not in time:
                    time[b] = time[a] + 1
                    queue.append(b)
        return sorted(a for a, hop in time.items() if hop == hops)
