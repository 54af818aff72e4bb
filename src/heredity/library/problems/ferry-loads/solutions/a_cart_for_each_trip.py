class Solution:
    def smallestFerry(self, carts, trips):
        if trips >= len(carts):
            return max(carts)
        if trips == 1:
            return sum(carts)

        def enough(limit):
            row, left = iter(carts), trips
            cart = next(row, None)
            while cart is not None:
                if not left:
                    return False
                left -= 1
                room = limit
                while cart is not None and cart <= room:
                    room -= cart
                    cart = next(row, None)
            return True

        low, high = max(carts), sum(carts)
        while low < high:
            middle = (low + high) >> 1
            if enough(middle):
                high = middle
            else:
                low = middle + 1
        return low
