class Solution:
    def fewestCuts(self, ribbons):
        piece, left, prime = 1, min(ribbons), 2
        while left > 1:
            if prime * prime > left:
                prime = left
            while left % prime == 0:
                left //= prime
                if all(ribbon % (piece * prime) == 0 for ribbon in ribbons):
                    piece *= prime
            prime += 1 + prime % 2
        return sum(ribbon // piece - 1 for ribbon in ribbons)
