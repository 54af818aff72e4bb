class Solution:
    def fewestCarts(self, weights, load, feuds):
        count = len(weights)
        hated = [0] * count
        for i, j in feuds:
            hated[i] |= 1 << j
            hated[j] |= 1 << i
        order = sorted(range(count), key=lambda i: (-weights[i], -hated[i].bit_count()))

        def fits(position, rooms, groups):
            if position == count:
                return True
            chest, seen = order[position], set()
            for i in range(len(rooms)):
                key = (rooms[i], groups[i])
                if key in seen or rooms[i] < weights[chest] or groups[i] & hated[chest]:
                    continue
                seen.add(key)
                rooms[i] -= weights[chest]
                groups[i] |= 1 << chest
                if fits(position + 1, rooms, groups):
                    return True
                rooms[i] += weights[chest]
                groups[i] ^= 1 << chest
            return False

        carts = -(-sum(weights) // load)
        while not fits(0, [load] * carts, [0] * carts):
            carts += 1
        return carts
