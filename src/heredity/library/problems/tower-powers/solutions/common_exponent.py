from math import lcm


class Solution:
    def towerRest(self, floors, modulus):
        def circle(number):
            """An exponent that all units share, from prime powers."""
            result, prime = 1, 2
            while number > 1:
                if prime * prime > number:
                    prime = number
                power = 1
                while number % prime == 0:
                    number //= prime
                    power *= prime
                if power > 1:
                    result = lcm(result, power // prime * (prime - 1))
                prime += 1
            return result

        def small(place):
            value = 1
            for floor in reversed(floors[place:]):
                value = 1 if floor == 1 else min(64, floor ** min(value, 6))
            return value

        def rest(place, m):
            if m == 1 or place == len(floors):
                return 1 % m
            above = small(place + 1)
            if above < 64:
                return pow(floors[place], above, m)
            length = circle(m)
            return pow(floors[place], rest(place + 1, length) + 64 * length, m)

        return rest(0, modulus)
