class Solution:
    def firstWins(self, sacks):
        ratio = (1 + 5**0.5) / 2
        return [max(pair) / min(pair) > ratio for pair in sacks]
