class Solution:
    def pairs(self, jars, low, high):
        total = 0
        for place, one in enumerate(jars):
            for other in jars[place + 1 :]:
                total += low <= one + other <= high
        return total
