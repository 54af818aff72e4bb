class Solution:
    def heard(self, count, calls, sources, hops):
        near = [[] for _ in range(count)]
        for a, b in calls:
            near[a].append(b)
        time, order = dict.fromkeys(sources, 0), list(dict.fromkeys(sources))
        for a in order:
            for b in near[a]:
                if b not in time:
                    time[b] = time[a] + 1
                    order.append(b)
        return [a for a in order if time[a] == hops]
