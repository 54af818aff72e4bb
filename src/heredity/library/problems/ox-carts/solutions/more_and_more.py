class Solution:
    def fewestCarts(self, weights, load, feuds):
        count = len(weights)
        hated = [0] * count
        for i, j in feuds:
            hated[i] |= 1 << j
            hated[j] |= 1 << i
        groups = [(0, 0, 0)]
        for i in range(count):
            groups += [
                (g | 1 << i, total + weights[i], ban | hated[i])
                for g, total, ban in groups
                if total + weights[i] <= load and not ban >> i & 1
            ]
        single = [g for g, _, _ in groups if g]
        reached, carts = {0}, 0
        whole = (1 << count) - 1
        by_low = {}
        for g in single:
            by_low.setdefault(g & -g, []).append(g)
        while whole not in reached:
            following = set()
            for done in reached:
                low = ~done & done + 1
                following.update(done | g for g in by_low[low] if not done & g)
            reached, carts = following, carts + 1
        return carts
