class Solution:
    def collected(self, years):
        def summed(a, n, m):
            if n == 1:
                return 1 % m
            if n % 2:
                return (1 + a * summed(a, n - 1, m)) % m
            return (1 + a) * summed(a * a % m, n // 2, m) % m

        return [summed(a, n, m) for a, n, m in years]
