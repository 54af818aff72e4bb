class Solution:
    def bestCargo(self, weights, values, capacity):
        def thinned(states):
            kept, top = [], -1
            for load, worth in sorted(states, key=lambda state: (state[0], -state[1])):
                if load <= capacity and worth > top:
                    kept.append((load, worth))
                    top = worth
            return kept

        plain, twin = [(0, 0)], []
        for weight, value in zip(weights, values):
            twin = thinned(
                twin
                + [(load + weight, worth + value) for load, worth in twin]
                + [(load + 2 * weight, worth + 2 * value) for load, worth in plain]
            )
            plain = thinned(plain + [(load + weight, worth + value) for load, worth in plain])
        return max(worth for _, worth in plain + twin)
