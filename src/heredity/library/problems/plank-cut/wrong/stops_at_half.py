class Solution:
    def saw(self, weights):
        whole, left = sum(weights), 0
        for place, weight in enumerate(weights[:-1], 1):
            if place > 1 and abs(whole - 2 * (left + weight)) >= abs(whole - 2 * left):
                return place - 1
            left += weight
        return len(weights) - 1
