class Solution:
    def fewestCuts(self, ribbons):
        piece = min(ribbons)
        return sum(-(-ribbon // piece) - 1 for ribbon in ribbons)
