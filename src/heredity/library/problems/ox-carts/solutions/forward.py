class Solution:
    def fewestCarts(self, weights, load, feuds):
        count = len(weights)
        size = 1 << count
        hated = [0] * count
        for i, j in feuds:
            hated[i] |= 1 << j
            hated[j] |= 1 << i
        fits = []
        for group in range(size):
            members = [i for i in range(count) if group >> i & 1]
            if sum(weights[i] for i in members) <= load and not any(hated[i] & group for i in members):
                fits.append(group)
        carts = [0] + [count + 1] * (size - 1)
        lists = {1 << i: [g for g in fits if g & -g == 1 << i] for i in range(count)}
        for done in range(size - 1):
            needed = carts[done] + 1
            if needed <= count:
                for group in lists[~done & done + 1]:
                    if not group & done and needed < carts[done | group]:
                        carts[done | group] = needed
        return carts[-1]
