class Solution:
    def winningMoves(self, baskets, most):
        size = most + 1

        def joined(low, high):
            if high - low == 1:
                return baskets[low] % size
            middle = (low + high) // 2
            return joined(low, middle) ^ joined(middle, high)

        whole = joined(0, len(baskets))
        if whole == 0:
            return 0
        targets = ((basket, basket % size ^ whole) for basket in baskets)
        return sum(goal <= most and (basket - goal) % size <= basket for basket, goal in targets)
