class Solution:
    def collected(self, years):
        found = []
        for a, n, m in years:
            total, power = 0, 1
            for bit in bin(n)[2:]:
                total, power = total * (1 + power) % m, power * power % m
                if bit == "1":
                    total, power = (total + power) % m, power * a % m
            found.append(total)
        return found
