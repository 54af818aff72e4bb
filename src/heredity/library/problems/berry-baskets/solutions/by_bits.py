class Solution:
    def winningMoves(self, baskets, most):
        size = most + 1
        values = [basket % size for basket in baskets]
        whole = sum((sum(value >> bit & 1 for value in values) % 2) << bit for bit in range(most.bit_length()))
        if whole == 0:
            return 0
        return sum(
            value ^ whole < value or (value ^ whole <= most and basket - value >= size and value ^ whole > value)
            for basket, value in zip(baskets, values)
        )
