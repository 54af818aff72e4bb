class Solution:
    def towerRest(self, floors, modulus):
        def primes_of(number):
            for prime in (2, 3, 5):
                if number % prime == 0:
                    yield prime
                    while number % prime == 0:
                        number //= prime
            prime, step = 7, 4
            while prime * prime <= number:
                if number % prime == 0:
                    yield prime
                    while number % prime == 0:
                        number //= prime
                prime, step = prime + step, 6 - step
            if number > 1:
                yield number

        def rest(place, m):
            floor = floors[place]
            if m == 1 or place == len(floors) - 1:
                return min(floor, floor % m + m)
            phi = m
            for prime in primes_of(m):
                phi -= phi // prime
            exponent, result = rest(place + 1, phi), 1
            while exponent:
                if exponent & 1:
                    result = min(result * floor, result * floor % m + m)
                floor = min(floor * floor, floor * floor % m + m)
                exponent >>= 1
            return result

        return rest(0, modulus) % modulus
