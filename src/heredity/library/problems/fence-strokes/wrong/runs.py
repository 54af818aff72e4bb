class Solution:
    def cheapest(self, colours, prices):
        return sum(prices[c] for i, c in enumerate(colours) if not i or c != colours[i - 1])
