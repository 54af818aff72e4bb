from functools import cache


class Solution:
    def fewestCarts(self, weights, load, feuds):
        @cache
        def carts(left, room):
            if not left:
                return 0
            return min(
                carts(left ^ 1 << i, room - w) if w <= room else 1 + carts(left ^ 1 << i, load - w)
                for i, w in enumerate(weights)
                if left >> i & 1
            )

        return carts((1 << len(weights)) - 1, 0)
