class Solution:
    def bestCargo(self, weights, values, capacity):
        best = [[0] * (capacity + 1), [0] * (capacity + 1)]
        for weight, value in zip(weights, values):
            following = [list(row) for row in best]
            for load, worth, start, end in (
                (weight, value, 0, 0),
                (weight, value, 1, 1),
                (2 * weight, 2 * value, 0, 1),
            ):
                source, target = best[start], following[end]
                for room in range(load, capacity + 1):
                    if source[room - load] + worth > target[room]:
                        target[room] = source[room - load] + worth
            best = following
        return max(best[1][-1], best[0][-1])
