class Solution:
    def flips(self, spans):
        return sum(2 * (b - a) - bin(b).count("1") + bin(a).count("1") for a, b in spans)
