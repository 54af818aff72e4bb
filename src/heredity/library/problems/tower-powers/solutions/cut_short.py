class Solution:
    def towerRest(self, floors, modulus):
        if 1 in floors:
            floors = floors[: max(1, floors.index(1))]
        chain = [modulus]
        while chain[-1] > 1 and len(chain) < len(floors):
            number = result = chain[-1]
            prime = 2
            while prime * prime <= number:
                if number % prime == 0:
                    result -= result // prime
                    while number % prime == 0:
                        number //= prime
                prime += 1
            if number > 1:
                result -= result // number
            chain.append(result)
        floors = floors[: len(chain)]
        exact, value = True, 1
        for floor, m in zip(floors[::-1], chain[::-1]):
            if exact and value < 31 and floor**value < m:
                value = floor**value
            else:
                value, exact = pow(floor, value, m) + m, False
            if value >= m and exact:
                value, exact = value % m + m, False
        return value % modulus
