from bisect import bisect_right
from itertools import accumulate


class Solution:
    def smallestFerry(self, carts, trips):
        sums = [0, *accumulate(carts)]
        low, high = max(max(carts), -(-sums[-1] // trips)), sums[-1]
        first = True
        while low < high:
            # The answer is mostly near the mean load, so guesses begin low.
            middle = low + (high - low) // (64 if first else 2)
            place = used = 0
            while place < len(carts) and used < trips:
                place = bisect_right(sums, sums[place] + middle, place) - 1
                used += 1
            first = first and place < len(carts)
            if place == len(carts):
                high = middle
            else:
                low = middle + 1
        return low
