class Solution:
    def bestCargo(self, weights, values, capacity):
        rows = [[[0, 0] for _ in range(capacity + 1)]]
        for weight, value in zip(weights, values):
            last, row = rows[-1], []
            for room in range(capacity + 1):
                plain, twin = last[room]
                if room >= weight:
                    plain = max(plain, last[room - weight][0] + value)
                    twin = max(twin, last[room - weight][1] + value)
                if room >= 2 * weight:
                    twin = max(twin, last[room - 2 * weight][0] + 2 * value)
                row.append([plain, twin])
            rows = [*rows[-1:], row]
        return max(rows[-1][-1])
