class Solution:
    def firstWins(self, sacks):
        out = []
        for a, b in sacks:
            a, b, wins = max(a, b), min(a, b), True
            while b < a < 2 * b:
                a, b, wins = b, a - b, not wins
            out.append(wins)
        return out
