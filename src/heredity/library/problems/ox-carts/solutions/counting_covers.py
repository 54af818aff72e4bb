class Solution:
    def fewestCarts(self, weights, load, feuds):
        count = len(weights)
        size = 1 << count
        bad = [1 << i | 1 << j for i, j in feuds]
        inside = [0] * size
        for group in range(size):
            total = sum(w for i, w in enumerate(weights) if group >> i & 1)
            inside[group] = int(total <= load and all(group & pair != pair for pair in bad))
        for i in range(count):
            for group in range(size):
                if group >> i & 1:
                    inside[group] += inside[group ^ 1 << i]
        # Covers by k carts, counted by inclusion and exclusion.
        for carts in range(1, count + 1):
            covers = sum((-1) ** (count - group.bit_count()) * inside[group] ** carts for group in range(size))
            if covers:
                return carts
        return count
