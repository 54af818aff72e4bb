from itertools import accumulate


class Solution:
    def saw(self, weights):
        left = list(accumulate(weights))
        right = list(accumulate(reversed(weights)))[::-1]
        return min(range(1, len(weights)), key=lambda cut: abs(left[cut - 1] - right[cut]))
