class Solution:
    def fewestCarts(self, weights, load, feuds):
        count = len(weights)
        size = 1 << count
        total = [sum(w for i, w in enumerate(weights) if group >> i & 1) for group in range(size)]
        pairs = [1 << i | 1 << j for i, j in feuds]
        carts = [0] * size
        for group in range(1, size):
            if total[group] <= load and not any(group & pair == pair for pair in pairs):
                carts[group] = 1
                continue
            # A group that does not fit on one cart is split in two, of which one holds its highest chest.
            high = 1 << group.bit_length() - 1
            rest = group ^ high
            best, part = count, rest
            while part:
                needed = carts[part] + carts[group ^ part]
                if needed < best:
                    best = needed
                    if best == 2:
                        break
                part = (part - 1) & rest
            carts[group] = best
        return carts[-1]
