def drawn(random, count, spread, empty):
    parts = [random.random() ** spread + 0.002 for _ in range(count)]
    whole = sum(parts) / (1 - empty)
    return [[max(0.0001, int(part / whole * 10**6) / 10**6) for part in parts]]


def small(random):
    return drawn(random, random.randint(1, 5), random.choice([0, 1, 3]), random.choice([0.001, 0.3, 0.9]))


def cases(random):
    yield [[1.0]]
    yield [[0.0001]]
    yield [[0.9, 0.0001]]
    yield [[0.0001] * 13]
    for count in (2, 5, 7, 9):
        for spread in (0, 1, 4):
            yield drawn(random, count, spread, 0.01)
            yield drawn(random, count, spread, 0.9)
    yield drawn(random, 13, 1, 0.01)
    yield drawn(random, 13, 5, 0.01)
    yield drawn(random, 13, 2, 0.98)
    yield [[0.07] * 13]
