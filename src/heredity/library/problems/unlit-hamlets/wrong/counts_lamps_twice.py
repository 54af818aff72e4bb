class Solution:
    def unlit(self, count, tracks, lamps):
        near = [[] for _ in range(count)]
        for a, b in tracks:
            near[a].append(b)
            near[b].append(a)
        order, lit = list(lamps), set(lamps)
        for a in order:
            for b in near[a]:
                if b not in lit:
                    lit.add(b)
                    order.append(b)
        return max(0, count - len(order))
