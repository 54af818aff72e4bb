P = 1_000_000_007


class Solution:
    def peals(self, bells, motif, strokes):
        # Count the first terms stroke by stroke, guess the shortest recurrence that they obey, and go on with it.
        size = len(motif)
        own = [k for k in range(1, size) if motif[k:] == motif[: size - k]]
        free, ended = [1], [0]
        for n in range(1, 2 * size + 4):
            new = free[n - size] - sum(ended[n - k] for k in own if n >= k) if n >= size else 0
            ended.append(new % P)
            free.append((bells * free[-1] - new) % P)
        if strokes < len(free):
            return free[strokes]
        rule, before, gap, slip = [1], [1], 1, 1
        length = 0
        for n, term in enumerate(free):
            error = term
            for k in range(1, length + 1):
                if k < len(rule):
                    error += rule[k] * free[n - k]
            error %= P
            if not error:
                gap += 1
                continue
            factor = error * pow(slip, -1, P) % P
            longer = rule + [0] * (len(before) + gap - len(rule))
            for k, value in enumerate(before):
                longer[k + gap] = (longer[k + gap] - factor * value) % P
            if 2 * length <= n:
                length, before, slip, gap = n + 1 - length, rule, error, 1
            else:
                gap += 1
            rule = longer
        rule += [0] * (length + 1 - len(rule))
        if not length:
            return 0

        def times(a, b):
            product = [0] * (len(a) + len(b) - 1)
            for i, one in enumerate(a):
                for j, other in enumerate(b):
                    product[i + j] += one * other
            while len(product) > length:
                lead = product.pop() % P
                top = len(product)
                for k in range(1, length + 1):
                    product[top - k] -= lead * rule[k]
            return [value % P for value in product]

        power, base = [1], times([0, 1], [1])
        while strokes:
            if strokes & 1:
                power = times(power, base)
            base = times(base, base)
            strokes >>= 1
        return sum(a * b for a, b in zip(power, free)) % P
