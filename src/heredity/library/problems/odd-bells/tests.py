def drawn(random, count, low, high):
    return [[round(random.uniform(low, high), 7) for _ in range(count)]]


def small(random):
    low, high = random.choice([(0, 1), (0, 0.1), (0.9, 1), (0.3, 0.7)])
    return drawn(random, random.randint(1, 8), low, high)


def cases(random):
    yield [[0.0]]
    yield [[1.0]]
    yield [[0.0, 1.0, 1.0, 1.0]]
    yield [[1.0] * 7 + [0.25]]
    for count in (15, 100, 400):
        yield drawn(random, count, 0, 2 / count)
        yield drawn(random, count, 1 - 2 / count, 1)
        yield drawn(random, count, 0, 1)
        yield [[0.0] * count]
        yield [[1.0] * count + [0.001]]
    yield drawn(random, 20_000, 0, 0.00005)
    yield drawn(random, 20_000, 0.99995, 1)
    yield [[1.0] * 19_999]
    yield [[1.0] * 19_999 + [0.3]]
    yield [[0.0001] * 20_000]
