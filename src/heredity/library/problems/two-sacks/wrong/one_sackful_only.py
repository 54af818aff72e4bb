class Solution:
    def firstWins(self, sacks):
        out = []
        for a, b in sacks:
            moves = -1
            while b:
                moves += a // b
                a, b = b, a % b
            out.append(moves % 2 == 1)
        return out
