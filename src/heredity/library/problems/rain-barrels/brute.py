class Solution:
    def collected(self, years):
        return [sum(pow(a, day) for day in range(n)) % m for a, n, m in years]
