class Solution:
    def saw(self, weights):
        left, right = 0, sum(weights)
        best = None
        for place in range(len(weights) - 1):
            left += weights[place]
            right -= weights[place]
            if best is None or abs(left - right) < best[0]:
                best = abs(left - right), place + 1
        return best[1]
