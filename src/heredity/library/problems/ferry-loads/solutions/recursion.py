class Solution:
    def smallestFerry(self, carts, trips):
        def trips_for(limit):
            made, load = 0, limit
            for cart in carts:
                if load + cart <= limit:
                    load += cart
                else:
                    made += 1
                    load = cart
            return made

        def search(low, high):
            if low == high:
                return low
            middle = low + (high - low) // 2
            if trips_for(middle) > max(trips, 1):
                return search(middle + 1, high)
            return search(low, middle)

        return search(max(carts), sum(carts)) if any(carts) else 0
