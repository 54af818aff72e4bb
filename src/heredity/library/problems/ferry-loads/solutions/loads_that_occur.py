class Solution:
    def smallestFerry(self, carts, trips):
        low, high = max(carts), sum(carts)
        while low < high:
            middle = (low + high) // 2
            # The heaviest trip that was made, and the least load that would have changed anything.
            used, load, heaviest, refused = 1, 0, 0, high
            for cart in carts:
                if load + cart > middle:
                    refused = min(refused, load + cart)
                    heaviest = max(heaviest, load)
                    used, load = used + 1, cart
                else:
                    load += cart
            if used <= trips:
                high = max(heaviest, load)
            else:
                low = refused
        return low
