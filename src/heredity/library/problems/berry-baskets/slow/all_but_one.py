class Solution:
    def winningMoves(self, baskets, most):
        size, moves = most + 1, 0
        for place, basket in enumerate(baskets):
            rest = 0
            for other, berries in enumerate(baskets):
                if other != place:
                    rest ^= berries % size
            taken = (basket - rest) % size
            moves += rest <= most and 0 < taken <= basket
        return moves
