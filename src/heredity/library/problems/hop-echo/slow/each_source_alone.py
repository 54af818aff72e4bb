class Solution:
    def heard(self, count, calls, sources, hops):
        near = [[] for _ in range(count)]
        for a, b in calls:
            near[a].append(b)
        time = {}
        for source in set(sources):
            here, order = {source: 0}, [source]
            for a in order:
                for b in near[a]:
                    if b not in here:
                        here[b] = here[a] + 1
                        order.append(b)
            for a, hop in here.items():
                time[a] = min(time.get(a, hop), hop)
        return sorted(a for a in time if time[a] == hops)
