class Solution:
    def bestCargo(self, weights, values, capacity):
        plain, twin = [0] * (capacity + 1), [0] * (capacity + 1)
        for weight, value in zip(weights, values):
            for room in range(capacity, weight - 1, -1):
                found = max(twin[room], twin[room - weight] + value)
                if room >= 2 * weight:
                    found = max(found, plain[room - 2 * weight] + 2 * value)
                twin[room] = found
                plain[room] = max(plain[room], plain[room - weight] + value)
        return max(plain[-1], twin[-1])
