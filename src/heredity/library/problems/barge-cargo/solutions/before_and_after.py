class Solution:
    def bestCargo(self, weights, values, capacity):
        def rows(pairs):
            table = [[0] * (capacity + 1)]
            for weight, value in pairs:
                row = list(table[-1])
                row[weight:] = [max(a, b + value) for a, b in zip(row[weight:], row)]
                table.append(row[: capacity + 1])
            return table

        pairs = list(zip(weights, values))
        before, after = rows(pairs), rows(pairs[::-1])[::-1]
        best = before[-1][-1]
        for place, (weight, value) in enumerate(pairs):
            room = capacity - 2 * weight
            if room >= 0:
                inner = max(a + b for a, b in zip(before[place], after[place + 1][room::-1]))
                best = max(best, inner + 2 * value)
        return best
