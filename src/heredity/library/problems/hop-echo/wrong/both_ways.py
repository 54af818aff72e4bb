class Solution:
    def heard(self, count, calls, sources, hops):
        near = [[] for _ in range(count)]
        for a, b in calls:
            near[a].append(b)
            near[b].append(a)
        seen, wave = set(sources), set(sources)
        while wave and hops:
            hops -= 1
            wave = {b for a in wave for b in near[a]} - seen
            seen |= wave
        return sorted(wave)
