class Solution:
    def smallestFerry(self, carts, trips):
        largest, total = max(carts), sum(carts)
        # Nobody does with less than the mean; with the mean and one largest cart more everybody does.
        low = max(largest, -(-total // trips))
        high = min(total, low + largest)
        while low < high:
            middle = (low + high) // 2
            left, room = trips - 1, middle
            for cart in carts:
                room -= cart
                if room < 0:
                    left -= 1
                    room = middle - cart
            if left < 0:
                low = middle + 1
            else:
                high = middle
        return low
