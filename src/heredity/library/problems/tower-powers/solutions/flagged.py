class Solution:
    def towerRest(self, floors, modulus):
        def totient(number):
            result, prime = number, 2
            while prime * prime <= number:
                if number % prime == 0:
                    result -= result // prime
                    while number % prime == 0:
                        number //= prime
                prime += 1
            return result - result // number if number > 1 else result

        def power(base, exponent, m):
            """The remainder, and whether the power reaches the modulus."""
            value = 1
            for _ in range(min(exponent, 40)):
                value *= base
                if value >= m:
                    return pow(base, exponent, m), True
                if base == 1:
                    break
            return value % m, value >= m

        def rest(place, m):
            if place == len(floors) - 1 or m == 1:
                return floors[place] % m, floors[place] >= m
            phi = totient(m)
            exponent, large = rest(place + 1, phi)
            return power(floors[place], exponent + phi * large, m)

        return rest(0, modulus)[0]
