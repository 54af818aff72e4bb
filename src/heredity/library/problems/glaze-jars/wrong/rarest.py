class Solution:
    def expectedJars(self, chances):
        return max(1 / chance for chance in chances)
