from bisect import bisect_left, bisect_right


class Solution:
    def kthGap(self, high, low, rank):
        low.sort()
        return bisect_left(
            range(10**12 + 1),
            rank,
            key=lambda gap: sum(bisect_right(low, b + gap) - bisect_left(low, b - gap) for b in high),
        )
