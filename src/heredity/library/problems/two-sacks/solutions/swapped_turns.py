class Solution:
    def firstWins(self, sacks):
        return [self.one(*sorted(pair)) for pair in sacks]

    def one(self, b, a):
        first = True
        while a % b and a < 2 * b:
            a, b, first = b, a % b, not first
        return first == (a != b)
