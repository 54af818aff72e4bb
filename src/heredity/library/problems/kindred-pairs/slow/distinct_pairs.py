from collections import Counter
from math import gcd


class Solution:
    def kindredPairs(self, numbers, measure):
        groups = list(Counter(numbers).items())
        found = 0
        for place, (number, count) in enumerate(groups):
            found += count * (count - 1) // 2 * (number == measure)
            for other, many in groups[:place]:
                if gcd(number, other) == measure:
                    found += count * many
        return found + sum(number < 0 for number in numbers)
