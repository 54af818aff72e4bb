class Solution:
    def fewestCuts(self, ribbons):
        piece = 0
        for ribbon in ribbons:
            while ribbon:
                piece, ribbon = ribbon, piece % ribbon
        return sum(ribbon // piece for ribbon in ribbons) - len(ribbons)
