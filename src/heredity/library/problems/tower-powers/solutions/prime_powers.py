class Solution:
    def towerRest(self, floors, modulus):
        def factors(number):
            found, prime = [], 2
            while number > 1:
                if prime * prime > number:
                    prime = number
                power = 1
                while number % prime == 0:
                    number //= prime
                    power *= prime
                if power > 1:
                    found.append((prime, power))
                prime += 1
            return found

        def small(place):
            value = 1
            for floor in reversed(floors[place:]):
                value = 1 if floor == 1 else min(64, floor ** min(value, 6))
            return value

        memory = {}

        def rest(place, m):
            if m == 1:
                return 0
            if place == len(floors):
                return 1
            if (place, m) in memory:
                return memory[place, m]
            value, size = 0, 1
            for prime, power in factors(m):
                above = small(place + 1)
                if above < 64:
                    part = pow(floors[place], above, power)
                elif floors[place] % prime == 0:
                    part = 0
                else:
                    part = pow(floors[place], rest(place + 1, power // prime * (prime - 1)), power)
                value += (part - value) * pow(size, -1, power) % power * size
                size *= power
            memory[place, m] = value
            return value

        return rest(0, modulus)
