class Solution:
    def expectedJars(self, chances):
        total, left = 0.0, sum(chances)
        for chance in sorted(chances, reverse=True):
            total += 1 / left
            left = max(left - chance, 1e-12)
        return total
