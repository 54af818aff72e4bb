from math import gcd


class Solution:
    def collected(self, years):
        found = []
        for a, n, m in years:
            if a == 1:
                found.append(n % m)
                continue
            common = gcd(a - 1, m)
            if common == 1:
                found.append((pow(a, n, m) - 1) * pow(a - 1, -1, m) % m)
            else:
                found.append((pow(a, n, m * (a - 1)) - 1) // (a - 1) % m)
        return found
