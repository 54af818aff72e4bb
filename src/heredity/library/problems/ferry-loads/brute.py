class Solution:
    def smallestFerry(self, carts, trips):
        def best(start, left):
            if start == len(carts):
                return 0
            if left == 1:
                return sum(carts[start:])
            return min(max(sum(carts[start:end]), best(end, left - 1)) for end in range(start + 1, len(carts) + 1))

        return best(0, min(trips, len(carts)))
