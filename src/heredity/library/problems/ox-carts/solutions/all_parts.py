class Solution:
    def fewestCarts(self, weights, load, feuds):
        count = len(weights)
        size = 1 << count
        bad = [1 << i | 1 << j for i, j in feuds]
        fits = [
            sum(w for i, w in enumerate(weights) if group >> i & 1) <= load
            and all(group & pair != pair for pair in bad)
            for group in range(size)
        ]
        carts = [0] + [count] * (size - 1)
        for group in range(1, size):
            low = group & -group
            part = group
            while part:
                if part & low and fits[part]:
                    carts[group] = min(carts[group], carts[group ^ part] + 1)
                part = (part - 1) & group
        return carts[-1]
