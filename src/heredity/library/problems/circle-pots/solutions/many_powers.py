class Solution:
    def waysToSow(self, pots, seeds):
        modulus = 1_000_000_007
        if seeds > pots - seeds:
            return 0
        above, below = pots, pots - seeds
        for number in range(pots - 2 * seeds + 1, pots - seeds + 1):
            above = above * number % modulus
        for number in range(2, seeds + 1):
            below = below * number % modulus
        power, exponent = 1, modulus - 2
        while exponent:
            if exponent & 1:
                power = power * below % modulus
            below = below * below % modulus
            exponent >>= 1
        return above * power % modulus
