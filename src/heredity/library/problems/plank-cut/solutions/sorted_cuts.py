from itertools import accumulate


class Solution:
    def saw(self, weights):
        sums = list(accumulate(weights))
        whole = sums.pop()
        return sorted(range(len(sums)), key=lambda cut: abs(whole - 2 * sums[cut]))[0] + 1
