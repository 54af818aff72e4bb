class Solution:
    def crossings(self, pegs, reach):
        return sum(sum(other <= peg - reach for other in pegs[place + 1 :]) for place, peg in enumerate(pegs))
