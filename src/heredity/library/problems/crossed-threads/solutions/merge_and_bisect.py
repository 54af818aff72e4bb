from bisect import bisect_right


class Solution:
    def crossings(self, pegs, reach):
        if len(pegs) < 2:
            return 0
        middle = len(pegs) // 2
        left, right = pegs[:middle], sorted(pegs[middle:])
        across = sum(bisect_right(right, peg - reach) for peg in left)
        return across + self.crossings(left, reach) + self.crossings(pegs[middle:], reach)
