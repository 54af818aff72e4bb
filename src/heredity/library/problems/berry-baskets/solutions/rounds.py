class Solution:
    def winningMoves(self, baskets, most):
        size = most + 1
        whole = 0
        pairs = []
        for basket in baskets:
            rounds, value = divmod(basket, size)
            whole ^= value
            pairs.append((rounds, value))
        if not whole:
            return 0
        moves = 0
        for rounds, value in pairs:
            goal = value ^ whole
            if goal < value:
                moves += 1
            elif goal < size and rounds:
                moves += 1
        return moves
