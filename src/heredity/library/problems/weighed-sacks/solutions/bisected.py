from bisect import bisect_left, bisect_right


class Solution:
    def selections(self, sacks, low, high):
        def sums(part):
            found = [0]
            for sack in part:
                found += [total + sack for total in found]
            return found

        half = len(sacks) // 2
        right = sorted(sums(sacks[half:]))
        return sum(bisect_right(right, high - total) - bisect_left(right, low - total) for total in sums(sacks[:half]))
