class Solution:
    def flips(self, spans):
        return sum(2 * (b - a) for a, b in spans)
