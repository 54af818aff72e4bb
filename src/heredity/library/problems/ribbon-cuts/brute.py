class Solution:
    def fewestCuts(self, ribbons):
        piece = min(ribbons)
        while any(ribbon % piece for ribbon in ribbons):
            piece -= 1
        return sum(ribbon // piece - 1 for ribbon in ribbons)
