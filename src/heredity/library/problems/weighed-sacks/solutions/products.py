from bisect import bisect_left, bisect_right
from itertools import product


class Solution:
    def selections(self, sacks, low, high):
        half = (len(sacks) + 1) // 2
        left = map(sum, product(*((0, sack) for sack in sacks[:half])))
        right = sorted(map(sum, product(*((0, sack) for sack in sacks[half:]))))
        return sum(bisect_right(right, high - total) - bisect_left(right, low - total) for total in left)
