class Solution:
    def fewestCarts(self, weights, load, feuds):
        count = len(weights)
        size = 1 << count
        hated = [0] * count
        for i, j in feuds:
            hated[i] |= 1 << j
            hated[j] |= 1 << i
        total, fits = [0] * size, [True] * size
        for group in range(1, size):
            low = group & -group
            i = low.bit_length() - 1
            total[group] = total[group ^ low] + weights[i]
            fits[group] = fits[group ^ low] and not hated[i] & group and total[group] <= load
        carts = [0] * size
        for group in range(1, size):
            if fits[group]:
                carts[group] = 1
                continue
            low = group & -group
            rest, best = group ^ low, count
            part = rest
            while part:
                part = (part - 1) & rest
                if fits[part | low]:
                    needed = 1 + carts[rest ^ part]
                    if needed < best:
                        best = needed
            carts[group] = best
        return carts[-1]
