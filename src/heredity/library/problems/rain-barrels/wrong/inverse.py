class Solution:
    def collected(self, years):
        found = []
        for a, n, m in years:
            try:
                found.append((pow(a, n, m) - 1) * pow(a - 1, -1, m) % m)
            except ValueError:
                found.append(n % m)
        return found
