class Solution:
    def firstWins(self, sacks):
        out = []
        for a, b in sacks:
            if a < b:
                a, b = b, a
            wins = True
            while a < 2 * b and a > b:
                a, b = b, a - b
                wins = not wins
            out.append(wins if a > b else not wins)
        return out
