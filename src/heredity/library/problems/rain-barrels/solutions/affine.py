class Solution:
    def collected(self, years):
        found = []
        for a, n, m in years:
            # x becomes factor * x + shift.
            factor, shift, whole, moved = a % m, 1 % m, 1, 0
            while n:
                if n % 2:
                    whole, moved = whole * factor % m, (moved * factor + shift) % m
                factor, shift = factor * factor % m, (shift * factor + shift) % m
                n //= 2
            found.append(moved)
        return found
