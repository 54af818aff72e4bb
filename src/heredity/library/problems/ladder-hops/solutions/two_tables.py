class Solution:
    def waysUp(self, rungs):
        modulus = 1_000_000_007
        fresh, tired = [1] + [0] * rungs, [0] * (rungs + 1)
        for rung in range(1, rungs + 1):
            fresh[rung] = (fresh[rung - 1] + tired[rung - 1]) % modulus
            if rung >= 3:
                tired[rung] = fresh[rung - 3]
        return (fresh[rungs] + tired[rungs]) % modulus
