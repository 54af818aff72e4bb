from bisect import bisect_right


class Solution:
    def leftover(self, sold, place):
        gone = sorted(set(sold))
        guess = place
        while True:
            better = place + bisect_right(gone, guess)
            if better == guess:
                return guess
            guess = better
