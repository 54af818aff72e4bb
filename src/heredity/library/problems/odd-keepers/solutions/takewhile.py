from itertools import accumulate, count, takewhile


class Solution:
    def stillLit(self, lamps):
        squares = list(takewhile(lambda square: square <= lamps, accumulate(count(1, 2))))
        return len(squares) + sum(2 * square <= lamps for square in squares)
