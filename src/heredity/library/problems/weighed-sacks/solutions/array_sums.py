from array import array
from bisect import bisect_left, bisect_right


class Solution:
    def selections(self, sacks, low, high):
        def sums(part):
            found = array("q", [0])
            for sack in part:
                found.extend(array("q", [total + sack for total in found]))
            return array("q", sorted(found))

        half = len(sacks) // 2
        left, right = sums(sacks[:half]), sums(sacks[half:])
        first, last, count = len(right), len(right), 0
        for total in left:
            first = bisect_left(right, low - total, 0, first)
            last = bisect_right(right, high - total, 0, last)
            count += last - first
        return count
