class Solution:
    def saw(self, weights):
        whole, left, best, cut = sum(weights), 0, float("inf"), 0
        for place, weight in enumerate(weights[:-1], 1):
            left += weight
            apart = abs(whole - 2 * left)
            if apart < best:
                best, cut = apart, place
        return cut
