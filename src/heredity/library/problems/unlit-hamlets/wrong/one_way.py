class Solution:
    def unlit(self, count, tracks, lamps):
        near = [[] for _ in range(count)]
        for a, b in tracks:
            near[a].append(b)
        order, lit = list(set(lamps)), set(lamps)
        for a in order:
            for b in near[a]:
                if b not in lit:
                    lit.add(b)
                    order.append(b)
        return count - len(order)
