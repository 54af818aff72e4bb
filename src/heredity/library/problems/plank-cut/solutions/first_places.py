class Solution:
    def saw(self, weights):
        # The first cut of each sum; then the sum that is the closest to half.
        first, left = {}, 0
        for place, weight in enumerate(weights[:-1], 1):
            left += weight
            first.setdefault(left, place)
        whole = left + weights[-1]
        best = min(abs(whole - 2 * one) for one in first)
        return min(place for one, place in first.items() if abs(whole - 2 * one) == best)
