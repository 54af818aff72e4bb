import heapq


class Solution:
    def smallestFerry(self, carts, trips):
        loads = [0] * min(trips, len(carts))
        for cart in sorted(carts, reverse=True):
            heapq.heapreplace(loads, loads[0] + cart)
        return max(loads)
