from math import gcd


class Solution:
    def towerRest(self, floors, modulus):
        def rest(place, m):
            if m == 1:
                return 1
            if place == len(floors) - 1:
                return floors[place] if floors[place] < m else floors[place] % m + m
            exponent = rest(place + 1, sum(gcd(number, m) == 1 for number in range(1, m + 1)))
            result, base = 1, floors[place] if floors[place] < m else floors[place] % m + m
            while exponent:
                if exponent & 1:
                    result = result * base if result * base < m else result * base % m + m
                base = base * base if base * base < m else base * base % m + m
                exponent >>= 1
            return result

        return rest(0, modulus) % modulus
