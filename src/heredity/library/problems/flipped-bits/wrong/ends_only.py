class Solution:
    def flips(self, spans):
        return sum((a ^ b).bit_count() for a, b in spans)
