from bisect import bisect_left


class Solution:
    def leftover(self, sold, place):
        gone = sorted(set(sold))
        # gone[i] - i - 1 tickets below gone[i] are unsold.
        before = bisect_left(range(len(gone)), place, key=lambda i: gone[i] - i - 1)
        return place + before
