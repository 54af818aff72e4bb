from bisect import bisect_left, insort


class Solution:
    def crossings(self, pegs, reach):
        seen, total = [], 0
        for peg in pegs:
            total += len(seen) - bisect_left(seen, peg + reach)
            insort(seen, peg)
        return total
