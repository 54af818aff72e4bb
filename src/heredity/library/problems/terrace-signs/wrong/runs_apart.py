from itertools import groupby
from math import factorial


class Solution:
    def gardens(self, signs):
        # Divides by the factorial of each run's terraces, as if runs were independent of each other.
        total = factorial(len(signs) + 1)
        for sign, run in groupby(signs):
            if sign != "?":
                total //= factorial(len(list(run)) + 1)
        return total % (10**9 + 7)
