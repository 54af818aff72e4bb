class Solution:
    def heard(self, count, calls, sources, hops):
        near = [[] for _ in range(count)]
        for a, b in calls:
            if a != b:
                near[a].append(b)
        fresh = [True] * count
        wave = []
        for a in sources:
            if fresh[a]:
                fresh[a] = False
                wave.append(a)
        hop = 0
        while wave and hop < hops:
            after = []
            for a in wave:
                for b in near[a]:
                    if fresh[b]:
                        fresh[b] = False
                        after.append(b)
            wave, hop = after, hop + 1
        wave.sort()
        return wave
