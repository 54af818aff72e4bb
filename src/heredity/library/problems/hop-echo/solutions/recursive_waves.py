class Solution:
    def heard(self, count, calls, sources, hops):
        near = [[] for _ in range(count)]
        for a, b in calls:
            near[a].append(b)
        left = set(range(count)) - set(sources)

        def after(wave, hop):
            if hop == hops or not wave:
                return sorted(wave)
            further = []
            for a in wave:
                for b in near[a]:
                    if b in left:
                        left.remove(b)
                        further.append(b)
            return after(further, hop + 1)

        return after(set(sources), 0)
