P = 1_000_000_007


class Solution:
    def peals(self, bells, motif, strokes):
        # From the moves of the motif onto itself come a recurrence and its first terms; x^strokes is taken modulo the recurrence.
        size = len(motif)
        own = [int(motif[k:] == motif[: size - k]) for k in range(size)]
        rule = [bells * own[k - 1] - (own[k] if k < size else 1) for k in range(1, size + 1)]
        first = []
        for n in range(size):
            # What is shorter than the motif is free.
            first.append(pow(bells, n, P))
        if strokes < size:
            return first[strokes]

        def times(a, b):
            product = [0] * (2 * size - 1)
            for i, one in enumerate(a):
                if one:
                    for j, other in enumerate(b):
                        product[i + j] += one * other
            for top in range(2 * size - 2, size - 1, -1):
                lead = product[top] % P
                if lead:
                    for k, factor in enumerate(rule, 1):
                        product[top - k] += lead * factor
            return [value % P for value in product[:size]]

        base = [0, 1] + [0] * (size - 2) if size > 1 else [rule[0] % P]
        power = [1] + [0] * (size - 1)
        while strokes:
            if strokes & 1:
                power = times(power, base)
            base = times(base, base)
            strokes >>= 1
        return sum(a * b for a, b in zip(power, first)) % P
