from bisect import bisect_left


class Solution:
    def smallestFerry(self, carts, trips):
        def enough(limit):
            used, load = 1, 0
            for cart in carts:
                load += cart
                if load > limit:
                    used, load = used + 1, cart
            return used <= trips

        low = max(carts)
        return low + bisect_left(range(sum(carts) - low), True, key=lambda more: enough(low + more))
