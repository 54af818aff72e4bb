class Solution:
    def twoGates(self, tolls, purse):
        for i, toll in enumerate(tolls):
            if purse - toll in tolls[i + 1 :]:
                return [i, tolls.index(purse - toll, i + 1)]
        return [-1, -1]
