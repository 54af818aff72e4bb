class Solution:
    def flips(self, spans):
        return sum((b >> digit) - (a >> digit) for digit in range(44) for a, b in spans)
