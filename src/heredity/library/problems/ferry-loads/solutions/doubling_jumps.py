from bisect import bisect_right
from itertools import accumulate


class Solution:
    def smallestFerry(self, carts, trips):
        sums = list(accumulate(carts, initial=0))
        count = len(carts)

        def enough(limit):
            place = 0
            for _ in range(min(trips, count)):
                step, wanted = 1, sums[place] + limit
                while place + step <= count and sums[place + step] <= wanted:
                    step *= 2
                place = bisect_right(sums, wanted, place + step // 2, min(count, place + step) + 1) - 1
                if place == count:
                    return True
            return False

        low, high = max(carts) - 1, sums[-1]
        while high - low > 1:
            middle = (low + high) // 2
            if enough(middle):
                high = middle
            else:
                low = middle
        return high
