class Solution:
    def fewestCarts(self, weights, load, feuds):
        count = len(weights)
        size = 1 << count
        hated = [0] * count
        for i, j in feuds:
            hated[i] |= 1 << j
            hated[j] |= 1 << i
        total, fits = [0] * size, bytearray([1]) * size
        for group in range(1, size):
            i = group.bit_length() - 1
            rest = group ^ 1 << i
            total[group] = total[rest] + weights[i]
            fits[group] = fits[rest] and total[group] <= load and not hated[i] & rest
        full = [
            g for g in range(1, size) if fits[g] and not any(not g >> i & 1 and fits[g | 1 << i] for i in range(count))
        ]
        reached, carts = {0}, 0
        while size - 1 not in reached:
            carts += 1
            following = set()
            for done in reached:
                low = ~done & done + 1
                following.update(done | g for g in full if g & low)
            reached = following
        return carts
