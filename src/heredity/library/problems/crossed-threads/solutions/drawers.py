from bisect import bisect_right


class Solution:
    def crossings(self, pegs, reach):
        levels = sorted(set(pegs))
        width = 320
        rank = {peg: place for place, peg in enumerate(levels)}
        fine, coarse, total = [0] * (len(levels) + width), [0] * (len(levels) // width + 2), 0
        for peg in reversed(pegs):
            top = bisect_right(levels, peg - reach)
            drawer = top // width
            total += sum(coarse[:drawer]) + sum(fine[drawer * width : top])
            place = rank[peg]
            fine[place] += 1
            coarse[place // width] += 1
        return total
