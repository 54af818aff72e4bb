class Solution:
    def heard(self, count, calls, sources, hops):
        near = [[] for _ in range(count)]
        for a, b in calls:
            near[a].append(b)
        time, order = {sources[0]: 0}, [sources[0]]
        for a in order:
            for b in near[a]:
                if b not in time:
                    time[b] = time[a] + 1
                    order.append(b)
        return sorted(a for a in time if time[a] == hops)
