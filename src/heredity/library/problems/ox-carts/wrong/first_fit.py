class Solution:
    def fewestCarts(self, weights, load, feuds):
        hated = {(i, j) for i, j in feuds} | {(j, i) for i, j in feuds}
        carts = []
        for chest in sorted(range(len(weights)), key=lambda chest: -weights[chest]):
            for cart in carts:
                if sum(weights[o] for o in cart) + weights[chest] <= load and all(
                    (o, chest) not in hated for o in cart
                ):
                    cart.append(chest)
                    break
            else:
                carts.append([chest])
        return len(carts)
