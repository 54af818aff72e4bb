from itertools import product


class Solution:
    def oddChance(self, chances):
        total = 0.0
        for rings in product((0, 1), repeat=len(chances)):
            if sum(rings) % 2:
                weight = 1.0
                for ring, chance in zip(rings, chances):
                    weight *= chance if ring else 1 - chance
                total += weight
        return total
