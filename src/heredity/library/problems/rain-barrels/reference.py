class Solution:
    def collected(self, years):
        return [(pow(a, n, m * (a - 1)) - 1) // (a - 1) % m if a > 1 else n % m for a, n, m in years]
