from functools import cache


class Solution:
    def winningMoves(self, baskets, most):
        @cache
        def wins(state):
            return any(not wins(after) for after in following(state))

        def following(state):
            for place, basket in enumerate(state):
                for taken in range(1, min(basket, most) + 1):
                    yield tuple(sorted((*state[:place], basket - taken, *state[place + 1 :])))

        return sum(not wins(after) for after in following(tuple(baskets)))
