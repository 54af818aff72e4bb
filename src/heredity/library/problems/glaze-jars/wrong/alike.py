class Solution:
    def expectedJars(self, chances):
        mean = sum(chances) / len(chances)
        return sum(1 / (mean * left) for left in range(1, len(chances) + 1))
