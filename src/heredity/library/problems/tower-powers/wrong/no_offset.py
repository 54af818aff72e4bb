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

        def rest(place, m):
            if m == 1:
                return 0
            if place == len(floors) - 1:
                return floors[place] % m
            return pow(floors[place], rest(place + 1, totient(m)), m)

        return rest(0, modulus)
