class Solution:
    def bestCargo(self, weights, values, capacity):
        plain, twin = [0] * (capacity + 1), [0] * (capacity + 1)
        for weight, value in zip(weights, values):
            if weight > capacity:
                continue
            once = [a if a > b + value else b + value for a, b in zip(twin[weight:], twin)]
            twin[weight:] = once
            if 2 * weight <= capacity:
                twin[2 * weight :] = [
                    a if a > b + 2 * value else b + 2 * value for a, b in zip(twin[2 * weight :], plain)
                ]
            plain[weight:] = [a if a > b + value else b + value for a, b in zip(plain[weight:], plain)]
        return max(plain[-1], twin[-1])
