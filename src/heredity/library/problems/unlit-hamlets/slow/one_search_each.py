class Solution:
    def unlit(self, count, tracks, lamps):
        near = [[] for _ in range(count)]
        for a, b in tracks:
            near[a].append(b)
            near[b].append(a)
        lamps, dark = set(lamps), 0
        for start in range(count):
            order, seen = [start], {start}
            for a in order:
                if a in lamps:
                    break
                for b in near[a]:
                    if b not in seen:
                        seen.add(b)
                        order.append(b)
            else:
                dark += 1
        return dark
