from itertools import accumulate


class Solution:
    def smallestFerry(self, carts, trips):
        sums = list(accumulate(carts))
        low, high = max(carts), sums[-1]
        while low < high:
            middle = (low + high) // 2
            used, end, before = 1, middle, 0
            for one in sums:
                if one > end:
                    used += 1
                    end = before + middle
                before = one
            if used <= trips:
                high = middle
            else:
                low = middle + 1
        return high
