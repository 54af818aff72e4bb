class Solution:
    def collected(self, years):
        found = []
        for a, n, m in years:
            total, power = 0, 1
            for digit in map(int, str(n)):
                _part, ten, factor = 0, 0, 1
                for _ in range(10):
                    ten = (ten + factor) % m
                    factor = factor * power % m
                total, power = total * ten % m, factor
                for _ in range(digit):
                    total, power = (total + power) % m, power * a % m
            found.append(total)
        return found
