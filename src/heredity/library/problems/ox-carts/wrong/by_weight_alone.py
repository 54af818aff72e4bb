class Solution:
    def fewestCarts(self, weights, load, feuds):
        return max(-(-sum(weights) // load), 2 if feuds else 1)
