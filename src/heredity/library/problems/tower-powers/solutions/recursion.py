class Solution:
    def towerRest(self, floors, modulus):
        def totient(number):
            result, prime = number, 2
            while prime * prime <= number:
                if number % prime == 0:
                    result = result // prime * (prime - 1)
                    while number % prime == 0:
                        number //= prime
                prime += 1 + prime % 2
            return result // number * (number - 1) if number > 1 else result

        def reduced(value, m):
            return value if value < m else value % m + m

        def rest(place, m):
            if m == 1 or place == len(floors) - 1:
                return reduced(floors[place], m)
            exponent = rest(place + 1, totient(m))
            result, base = 1, reduced(floors[place], m)
            while exponent:
                if exponent % 2:
                    result = reduced(result * base, m)
                base = reduced(base * base, m)
                exponent //= 2
            return result

        return rest(0, modulus) % modulus
