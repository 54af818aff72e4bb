class Solution:
    def waysToSow(self, pots, seeds):
        modulus = 1_000_000_007
        factorial, inverse = [1], [1]
        for number in range(1, pots + 2):
            factorial.append(factorial[-1] * number % modulus)
        inverse = [pow(factorial[-1], modulus - 2, modulus)]
        for number in range(pots + 1, 0, -1):
            inverse.append(inverse[-1] * number % modulus)
        inverse.reverse()

        def comb(n, k):
            return factorial[n] * inverse[k] * inverse[n - k] % modulus if 0 <= k <= n else 0

        return (comb(pots - seeds, seeds) + comb(pots - seeds - 1, seeds - 1)) % modulus
