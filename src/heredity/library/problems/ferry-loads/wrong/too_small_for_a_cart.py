class Solution:
    def smallestFerry(self, carts, trips):
        low, high = 0, sum(carts)
        while low < high:
            middle = (low + high) // 2
            needed, load = 1, 0
            for cart in carts:
                load += cart
                if load > middle:
                    needed, load = needed + 1, cart
            if needed <= trips:
                high = middle
            else:
                low = middle + 1
        return low
