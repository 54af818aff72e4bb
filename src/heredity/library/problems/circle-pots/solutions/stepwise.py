class Solution:
    def waysToSow(self, pots, seeds):
        modulus = 1_000_000_007
        if 2 * seeds > pots:
            return 0
        above, below = [1], [1]
        for place in range(seeds):
            above.append(above[-1] * (pots - seeds - place) % modulus)
            below.append(below[-1] * (place + 1) % modulus)
        row = above[-1] * pow(below[-1], modulus - 2, modulus)
        return row * pots % modulus * pow(pots - seeds, modulus - 2, modulus) % modulus
