from bisect import bisect_left, bisect_right
from collections import Counter
from itertools import accumulate


class Solution:
    def selections(self, sacks, low, high):
        def sums(part):
            found = Counter({0: 1})
            for sack in part:
                following = Counter(found)
                for total, ways in found.items():
                    following[total + sack] += ways
                found = following
            return found

        left, right = sums(sacks[::2]), sums(sacks[1::2])
        order = sorted(right)
        ways = [0, *accumulate(right[total] for total in order)]
        return sum(
            many * (ways[bisect_right(order, high - t)] - ways[bisect_left(order, low - t)]) for t, many in left.items()
        )
