from functools import cache


class Solution:
    def towerRest(self, floors, modulus):
        @cache
        def totient(number):
            prime = 2
            while prime * prime <= number:
                if number % prime == 0:
                    power = prime
                    while number % (power * prime) == 0:
                        power *= prime
                    return power // prime * (prime - 1) * totient(number // power)
                prime += 1
            return number - 1 if number > 1 else 1

        @cache
        def raised(base, exponent, m):
            if exponent == 0:
                return 1
            half = raised(base, exponent // 2, m)
            value = half * half * (base if exponent % 2 else 1)
            return value if value < m else value % m + m

        def rest(place, m):
            if place == len(floors) - 1:
                return floors[place] if floors[place] < m else floors[place] % m + m
            if m == 1:
                return 1
            return raised(floors[place], rest(place + 1, totient(m)), m)

        return rest(0, modulus) % modulus
