from itertools import combinations
from math import gcd


class Solution:
    def kindredPairs(self, numbers, measure):
        return sum(gcd(a, b) == measure for a, b in combinations(numbers, 2))
