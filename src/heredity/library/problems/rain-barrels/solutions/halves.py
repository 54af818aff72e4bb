class Solution:
    def collected(self, years):
        def summed(a, n, m):
            if n == 0:
                return 0
            half = summed(a, n // 2, m)
            total = half * (1 + pow(a, n // 2, m)) % m
            return (total + pow(a, n - 1, m)) % m if n % 2 else total

        return [summed(a, n, m) for a, n, m in years]
