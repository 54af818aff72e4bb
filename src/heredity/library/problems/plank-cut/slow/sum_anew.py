class Solution:
    def saw(self, weights):
        best, cut = float("inf"), 0
        for place in range(1, len(weights)):
            apart = abs(sum(weights[:place]) - sum(weights[place:]))
            if apart < best:
                best, cut = apart, place
        return cut
