class Solution:
    def towerRest(self, floors, modulus):
        primes = [2]
        for number in range(3, 31_624, 2):
            if all(number % prime for prime in primes[: 3 if number < 49 else 4]):
                primes.append(number)

        def totient(number):
            result = number
            for prime in primes:
                if prime * prime > number:
                    break
                if number % prime == 0:
                    result = result // prime * (prime - 1)
                    while number % prime == 0:
                        number //= prime
            return result // number * (number - 1) if number > 1 else result

        def reduced(value, m):
            return value if value < m else m + value % m

        def rest(place, m):
            if m == 1 or place + 1 == len(floors):
                return reduced(floors[place], m)
            result, base, exponent = 1, floors[place], rest(place + 1, totient(m))
            for bit in bin(exponent)[2:]:
                result = reduced(result * result, m)
                if bit == "1":
                    result = reduced(result * base, m)
            return result

        return rest(0, modulus) % modulus
