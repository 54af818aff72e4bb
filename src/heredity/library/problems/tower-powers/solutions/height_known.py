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

        def exact(place):
            """The tower from a floor on, or 64 if it is that much or more."""
            value = 1
            for floor in reversed(floors[place:]):
                value = 1 if floor == 1 else min(64, floor ** min(value, 6))
            return value

        def rest(place, m):
            if m == 1:
                return 0
            if place == len(floors):
                return 1 % m
            above = exact(place + 1)
            if above < 64:
                return pow(floors[place], above, m)
            phi = totient(m)
            return pow(floors[place], rest(place + 1, phi) + 32 * phi, m)

        cut = next((place for place, floor in enumerate(floors) if floor == 1), len(floors))
        floors = floors[:cut] or [1]
        return rest(0, modulus)
