from bisect import bisect_right, insort_left


class Solution:
    def crossings(self, pegs, reach):
        right, total = [], 0
        for peg in reversed(pegs):
            total += bisect_right(right, peg - reach)
            insort_left(right, peg)
        return total
