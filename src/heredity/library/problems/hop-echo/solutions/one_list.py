class Solution:
    def heard(self, count, calls, sources, hops):
        near = [[] for _ in range(count)]
        for a, b in calls:
            near[a].append(b)
        time = dict.fromkeys(sources, 0)
        order = list(time)
        for a in order:
            if time[a] == hops:
                break
            for b in near[a]:
                if b not in time:
                    time[b] = time[a] + 1
                    order.append(b)
        return sorted(a for a, hop in time.items() if hop == hops)
