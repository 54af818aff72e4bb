from functools import cache


class Solution:
    def fewestCarts(self, weights, load, feuds):
        count = len(weights)
        hated = [0] * count
        for i, j in feuds:
            hated[i] |= 1 << j
            hated[j] |= 1 << i

        @cache
        def carts(left):
            if not left:
                return 0
            first = (left & -left).bit_length() - 1
            return 1 + fill(left ^ 1 << first, first, load - weights[first], hated[first])

        def fill(left, after, room, banned):
            best = carts(left)
            for i in range(after + 1, count):
                if left >> i & 1 and weights[i] <= room and not banned >> i & 1:
                    best = min(best, fill(left ^ 1 << i, i, room - weights[i], banned | hated[i]))
            return best

        return carts((1 << count) - 1)
