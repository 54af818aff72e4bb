class Solution:
    def firstWins(self, sacks):
        out = []
        for a, b in sacks:
            if a < b:
                a, b = b, a
            out.append(a * a - a * b > b * b)
        return out
