from math import gcd


class Solution:
    def kindredPairs(self, numbers, measure):
        found = 0
        for place, number in enumerate(numbers):
            for other in numbers[:place]:
                found += gcd(number, other) == measure
        return found
