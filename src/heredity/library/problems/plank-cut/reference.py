from itertools import accumulate


class Solution:
    def saw(self, weights):
        whole = sum(weights)
        gaps = [abs(2 * left - whole) for left in accumulate(weights[:-1])]
        return gaps.index(min(gaps)) + 1
