class Solution:
    def smallestFerry(self, carts, trips):
        return max(max(carts), -(-sum(carts) // trips))
