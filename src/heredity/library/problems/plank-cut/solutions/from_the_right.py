class Solution:
    def saw(self, weights):
        whole, right, best, cut = sum(weights), 0, float("inf"), 0
        for place in range(len(weights) - 1, 0, -1):
            right += weights[place]
            if abs(whole - 2 * right) <= best:
                best, cut = abs(whole - 2 * right), place
        return cut
