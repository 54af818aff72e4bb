from bisect import bisect_right
from itertools import accumulate


class Solution:
    def smallestFerry(self, carts, trips):
        sums = [0, *accumulate(carts)]

        def enough(load):
            place = used = 0
            while place < len(carts):
                place = bisect_right(sums, sums[place] + load, place + 1) - 1
                used += 1
                if used > trips:
                    return False
            return True

        low, high = max(carts), sums[-1]
        while low < high:
            middle = (low + high) // 2
            if enough(middle):
                high = middle
            else:
                low = middle + 1
        return low
