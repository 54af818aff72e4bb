from bisect import bisect_right


class Solution:
    def crossings(self, pegs, reach):
        levels = sorted(set(pegs))
        tree = [0] * (len(levels) + 1)
        total = 0
        for peg in reversed(pegs):
            place = bisect_right(levels, peg - reach)
            while place:
                total += tree[place]
                place &= place - 1
            place = bisect_right(levels, peg)
            while place < len(tree):
                tree[place] += 1
                place += place & -place
        return total
