class Solution:
    def waysToSow(self, pots, seeds):
        modulus = 1_000_000_007

        def product(low, high):
            if high - low < 2:
                return low if high > low else 1
            middle = (low + high) // 2
            return product(low, middle) * product(middle, high) % modulus

        if 2 * seeds > pots:
            return 0
        return (
            product(pots - 2 * seeds + 1, pots - seeds + 1)
            * pots
            * pow(product(1, seeds + 1) * (pots - seeds), -1, modulus)
            % modulus
        )
