class Solution:
    def fewestCuts(self, ribbons):
        def common(a, b):
            if not a or not b:
                return a or b
            shift = ((a | b) & -(a | b)).bit_length() - 1
            a >>= (a & -a).bit_length() - 1
            while b:
                b >>= (b & -b).bit_length() - 1
                if a > b:
                    a, b = b, a
                b -= a
            return a << shift

        piece = 0
        for ribbon in ribbons:
            piece = common(piece, ribbon)
        return sum(ribbons) // piece - len(ribbons)
