from bisect import bisect_left


class Solution:
    def selections(self, sacks, low, high):
        def sums(part):
            found = [0]
            for sack in part:
                found += [total + sack for total in found]
            return sorted(found)

        left, right = sums(sacks[::2]), sums(sacks[1::2])
        return sum(bisect_left(right, high - total) - bisect_left(right, low - total) for total in left)
