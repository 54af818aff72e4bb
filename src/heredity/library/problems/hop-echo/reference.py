class Solution:
    def heard(self, count, calls, sources, hops):
        near = [[] for _ in range(count)]
        for a, b in calls:
            near[a].append(b)
        seen, wave = set(sources), list(set(sources))
        while wave and hops:
            hops -= 1
            after = []
            for a in wave:
                for b in near[a]:
                    if b not in seen:
                        seen.add(b)
                        after.append(b)
            wave = after
        return sorted(wave)
