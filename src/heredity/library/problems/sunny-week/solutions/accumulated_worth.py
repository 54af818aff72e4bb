from itertools import accumulate
from operator import sub


class Solution:
    def arrival(self, days, length):
        much = len(days) + 1
        worth = {"S": much, "C": 0, "R": -1}
        sums = [0, *accumulate(worth[letter] for letter in days)]
        stays = list(map(sub, sums[length:], sums))
        return stays.index(max(stays))
