from itertools import product


class Solution:
    def fewestCarts(self, weights, load, feuds):
        count = len(weights)
        for carts in range(1, count):
            for chosen in product(range(carts), repeat=count):
                loads = [0] * carts
                for cart, weight in zip(chosen, weights):
                    loads[cart] += weight
                if max(loads) <= load and all(chosen[i] != chosen[j] for i, j in feuds):
                    return carts
        return count
