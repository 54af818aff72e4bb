from math import isqrt


class Solution:
    def firstWins(self, sacks):
        # More than the golden ratio: 2a - b > b times the root of 5, which is no whole number.
        return [2 * max(pair) - min(pair) > isqrt(5 * min(pair) ** 2) for pair in sacks]
