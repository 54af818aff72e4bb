class Solution:
    def flips(self, spans):
        return sum(2 * (b - a) - (b - a).bit_count() for a, b in spans)
