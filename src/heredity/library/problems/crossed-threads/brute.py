class Solution:
    def crossings(self, pegs, reach):
        count = len(pegs)
        return sum(pegs[i] - pegs[j] >= reach for i in range(count) for j in range(i + 1, count))
