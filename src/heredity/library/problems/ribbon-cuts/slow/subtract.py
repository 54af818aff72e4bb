class Solution:
    def fewestCuts(self, ribbons):
        piece = ribbons[0]
        for ribbon in ribbons:
            while ribbon:
                if ribbon < piece:
                    ribbon, piece = piece, ribbon
                ribbon -= 1 if piece == 1 else piece
        return sum(ribbon // piece - 1 for ribbon in ribbons)
