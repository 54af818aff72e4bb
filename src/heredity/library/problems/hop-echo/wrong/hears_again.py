class Solution:
    def heard(self, count, calls, sources, hops):
        near = [[] for _ in range(count)]
        for a, b in calls:
            near[a].append(b)
        wave = set(sources)
        for _ in range(min(hops, 30)):
            wave = {b for a in wave for b in near[a]}
        return sorted(wave)
