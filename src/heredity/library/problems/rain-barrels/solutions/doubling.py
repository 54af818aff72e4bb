class Solution:
    def collected(self, years):
        found = []
        for a, n, m in years:
            total, part, factor = 0, 1, a
            while n:
                if n & 1:
                    total = (total * factor + part) % m
                part = (part * factor + part) % m
                factor = factor * factor % m
                n >>= 1
            found.append(total)
        return found
