class Solution:
    def smallestFerry(self, carts, trips):
        least = max(carts)

        def enough(limit):
            if limit < least:
                return False
            left, load = trips, limit
            for cart in carts:
                load += cart
                if load > limit:
                    if not left:
                        return False
                    left, load = left - 1, cart
            return True

        limit = (1 << sum(carts).bit_length()) - 1
        for bit in range(limit.bit_length() - 1, -1, -1):
            if enough(limit ^ 1 << bit):
                limit ^= 1 << bit
        return limit
