class Solution:
    def fewestCuts(self, ribbons):
        def common(a, b):
            return common(b, a % b) if b else a

        piece = ribbons[0]
        for ribbon in ribbons:
            piece = common(ribbon, piece)
        cuts = 0
        for ribbon in ribbons:
            cuts += ribbon // piece - 1
        return cuts
