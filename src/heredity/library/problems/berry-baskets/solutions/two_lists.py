class Solution:
    def winningMoves(self, baskets, most):
        size = most + 1
        values = list(map(size.__rmod__, baskets))
        whole = 0
        for value in values:
            whole = whole ^ value
        goals = [value ^ whole for value in values]
        wins = [goal <= most and (basket - goal) % size in range(1, basket + 1) for basket, goal in zip(baskets, goals)]
        return wins.count(True)
