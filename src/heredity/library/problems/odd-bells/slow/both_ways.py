class Solution:
    def oddChance(self, chances):
        def odd(place, parity):
            if place == len(chances):
                return float(parity)
            return chances[place] * odd(place + 1, 1 - parity) + (1 - chances[place]) * odd(place + 1, parity)

        return odd(0, 0)
