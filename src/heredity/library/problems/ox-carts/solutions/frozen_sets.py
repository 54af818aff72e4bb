from functools import cache


class Solution:
    def fewestCarts(self, weights, load, feuds):
        hated = {i: set() for i in range(len(weights))}
        for i, j in feuds:
            hated[i].add(j)
            hated[j].add(i)

        @cache
        def carts(left):
            if not left:
                return 0
            first = min(left)
            best, stack = len(left), [(frozenset([first]), load - weights[first])]
            while stack:
                cart, room = stack.pop()
                best = min(best, 1 + carts(left - cart))
                top = max(cart)
                for i in left:
                    if i > top and weights[i] <= room and not hated[i] & cart:
                        stack.append((cart | {i}, room - weights[i]))
            return best

        return carts(frozenset(range(len(weights))))
