from bisect import bisect_left, bisect_right


class Solution:
    def selections(self, sacks, low, high):
        def sums(part):
            found = [0]
            for sack in part:
                found += [total + sack for total in found]
            return sorted(found)

        left, right = sums(sacks[::2]), sums(sacks[1::2])
        return sum(bisect_right(right, high - total) - bisect_left(right, max(1, low) - total) for total in left)
