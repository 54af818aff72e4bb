class Solution:
    def waysToSow(self, pots, seeds):
        modulus = 1_000_000_007
        if 2 * seeds > pots:
            return 0
        factorial = [1]
        for number in range(1, pots + 1):
            factorial.append(factorial[-1] * number % modulus)

        def comb(n, k):
            return factorial[n] * pow(factorial[k] * factorial[n - k], -1, modulus) % modulus

        return (comb(pots - seeds, seeds) * pots) * pow(pots - seeds, -1, modulus) % modulus
