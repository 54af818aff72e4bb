class Solution:
    def saw(self, weights):
        return min(range(1, len(weights)), key=lambda cut: (abs(sum(weights[:cut]) - sum(weights[cut:])), cut))
