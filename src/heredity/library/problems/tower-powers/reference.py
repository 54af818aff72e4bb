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

        def reduced(value, m):
            return value if value < m else value % m + m

        chain = [modulus]
        while chain[-1] > 1 and len(chain) < len(floors):
            chain.append(totient(chain[-1]))
        height = min(len(chain), len(floors))
        value = reduced(floors[height - 1], chain[height - 1])
        for floor, m in zip(floors[height - 2 :: -1] if height > 1 else [], chain[height - 2 :: -1]):
            result, base, exponent = 1, reduced(floor, m), value
            while exponent:
                if exponent & 1:
                    result = reduced(result * base, m)
                base = reduced(base * base, m)
                exponent >>= 1
            value = result
        return value % modulus
