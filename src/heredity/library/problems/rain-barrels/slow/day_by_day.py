class Solution:
    def collected(self, years):
        found = []
        for a, n, m in years:
            total, drops = 0, 1
            for _ in range(n):
                total = (total + drops) % m
                drops = drops * a % m
            found.append(total)
        return found
