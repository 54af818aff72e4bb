class Solution:
    def lineUp(self, names, heights):
        line = sorted(zip([-height for height in heights], names))
        names = list(zip(*line))[1]
        return list(names[1::2])[::-1] + list(names[::2])
