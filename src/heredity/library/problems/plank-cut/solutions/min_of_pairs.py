from itertools import accumulate


class Solution:
    def saw(self, weights):
        *sums, whole = accumulate(weights)
        return min((abs(whole - 2 * left), cut) for cut, left in enumerate(sums, 1))[1]
