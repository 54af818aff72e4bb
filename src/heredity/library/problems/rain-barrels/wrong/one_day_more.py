class Solution:
    def collected(self, years):
        return [(pow(a, n + 1, m * (a - 1)) - 1) // (a - 1) % m if a > 1 else (n + 1) % m for a, n, m in years]
