class Solution:
    def waysToSow(self, pots, seeds):
        modulus = 1_000_000_007
        if seeds * 2 > pots:
            return 0
        inverse = [0, 1]
        for number in range(2, pots + 1):
            inverse.append((modulus - modulus // number) * inverse[modulus % number] % modulus)
        result = pots * inverse[pots - seeds] % modulus
        for place in range(seeds):
            result = result * (pots - seeds - place) % modulus * inverse[place + 1] % modulus
        return result
