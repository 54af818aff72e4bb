class Solution:
    def unlit(self, count, tracks, lamps):
        near = [[] for _ in range(count)]
        for a, b in tracks:
            near[a].append(b)
            near[b].append(a)
        lit = [False] * count
        for lamp in lamps:
            lit[lamp] = True
        order = list(set(lamps))
        for a in order:
            for b in near[a]:
                if not lit[b]:
                    lit[b] = True
                    order.append(b)
        return count - len(order)
