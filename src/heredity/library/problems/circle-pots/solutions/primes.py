class Solution:
    def waysToSow(self, pots, seeds):
        modulus = 1_000_000_007
        if 2 * seeds > pots:
            return 0
        count = pots - seeds
        sieve = bytearray([1]) * (count + 1)
        result = pots * pow(count, -1, modulus) % modulus
        for prime in range(2, count + 1):
            if not sieve[prime]:
                continue
            sieve[prime * prime :: prime] = bytes(len(range(prime * prime, count + 1, prime)))
            exponent, power = 0, prime
            while power <= count:
                exponent += count // power - seeds // power - (count - seeds) // power
                power *= prime
            if exponent:
                result = result * pow(prime, exponent, modulus) % modulus
        return result
