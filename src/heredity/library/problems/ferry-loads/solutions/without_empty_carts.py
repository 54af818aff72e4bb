from itertools import groupby


class Solution:
    def smallestFerry(self, carts, trips):
        # Carts of no weight change nothing; equal neighbours go over in numbers.
        runs = [(cart, len(list(run))) for cart, run in groupby(cart for cart in carts if cart)]
        if not runs:
            return 0

        def needed(limit):
            used, room = 0, 0
            for cart, count in runs:
                now = room // cart
                if count <= now:
                    room -= count * cart
                    continue
                count -= now
                each = limit // cart
                more = -(-count // each)
                used += more
                room = limit - (count - (more - 1) * each) * cart
                if used > trips:
                    break
            return used

        low, high = max(carts), sum(carts)
        while low < high:
            middle = (low + high) // 2
            if needed(middle) > trips:
                low = middle + 1
            else:
                high = middle
        return low
