from bisect import bisect_right, insort


class Solution:
    def crossings(self, pegs, reach):
        seen, total = [], 0
        for peg in pegs:
            total += len(seen) - bisect_right(seen, peg)
            insort(seen, peg)
        return total
