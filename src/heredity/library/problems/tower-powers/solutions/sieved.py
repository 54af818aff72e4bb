from math import isqrt


class Solution:
    def towerRest(self, floors, modulus):
        size = isqrt(modulus) + 1
        sieve = bytearray([1]) * (size + 1)
        primes = []
        for number in range(2, size + 1):
            if sieve[number]:
                primes.append(number)
                sieve[number * number :: number] = bytes(len(range(number * number, size + 1, number)))

        def totient(number):
            result = left = number
            for prime in primes:
                if prime * prime > left:
                    break
                if left % prime == 0:
                    result -= result // prime
                    while left % prime == 0:
                        left //= prime
            return result - result // left if left > 1 else result

        moduli = [modulus]
        for _ in floors[1:]:
            moduli.append(totient(moduli[-1]))
        value = 1
        for floor, m in zip(reversed(floors), reversed(moduli)):
            result, base = 1, floor if floor < m else floor % m + m
            while value:
                if value & 1:
                    result *= base
                    if result >= m:
                        result = result % m + m
                base *= base
                if base >= m:
                    base = base % m + m
                value >>= 1
            value = result
        return value % modulus
