from math import log2


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

        # How large the tower is from each floor on, as a float that may be endless.
        sizes = [1.0]
        for floor in reversed(floors):
            bits = sizes[-1] * log2(floor)
            sizes.append(2.0**bits if bits < 900 else float("inf"))
        sizes.reverse()

        def rest(place, m):
            if m == 1:
                return 0
            if place == len(floors):
                return 1
            above = sizes[place + 1]
            if above < 1000:
                return pow(floors[place], round(above), m)
            phi = totient(m)
            return pow(floors[place], rest(place + 1, phi) + phi * (32 // phi + 1), m)

        return rest(0, modulus)
