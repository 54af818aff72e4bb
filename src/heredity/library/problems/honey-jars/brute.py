class Solution:
    def pairs(self, jars, low, high):
        return sum(low <= one + other <= high for place, one in enumerate(jars) for other in jars[place + 1 :])
