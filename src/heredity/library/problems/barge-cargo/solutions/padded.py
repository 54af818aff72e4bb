class Solution:
    def bestCargo(self, weights, values, capacity):
        pad = 2 * max(weights)
        plain, twin = [-(10**18)] * pad + [0] * (capacity + 1), [-(10**18)] * pad + [0] * (capacity + 1)
        for weight, value in zip(weights, values):
            double = 2 * weight
            for room in range(len(plain) - 1, pad - 1, -1):
                twin[room] = max(twin[room], twin[room - weight] + value, plain[room - double] + 2 * value)
                plain[room] = max(plain[room], plain[room - weight] + value)
        return twin[-1] if twin[-1] > plain[-1] else plain[-1]
