class Solution:
    def flips(self, spans):
        total = 0
        for a, b in spans:
            while b:
                total += b - a
                a >>= 1
                b >>= 1
        return total
