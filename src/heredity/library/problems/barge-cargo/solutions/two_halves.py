class Solution:
    def bestCargo(self, weights, values, capacity):
        def filled(pairs):
            plain, twin = [0] * (capacity + 1), [0] * (capacity + 1)
            for weight, value in pairs:
                for room in range(capacity, weight - 1, -1):
                    twin[room] = max(
                        twin[room],
                        twin[room - weight] + value,
                        plain[room - 2 * weight] + 2 * value if room >= 2 * weight else 0,
                    )
                    plain[room] = max(plain[room], plain[room - weight] + value)
            return plain, twin

        pairs = list(zip(weights, values))
        (a, b), (c, d) = filled(pairs[::2]), filled(pairs[1::2])
        return max(max(x + y for x, y in zip(one, reversed(other))) for one, other in ((a, c), (a, d), (b, c)))
