def drawn(random, count, high, measure):
    return [[random.randint(1, high) for _ in range(count)], measure]


def small(random):
    return drawn(random, random.randint(1, 9), random.choice([4, 12, 60]), random.randint(1, 4))


def cases(random):
    yield [[1], 1]
    yield [[1, 1], 1]
    yield [[100_000] * 3, 100_000]
    yield [[99_991, 99_989, 99_991], 99_991]
    yield [[30, 42, 70, 105], 1]
    yield [[5, 7], 9]
    for count in (10, 60, 400, 2000):
        for high, measure in ((50, 2), (100_000, 1), (5000, 3), (12, 1), (100_000, 720)):
            yield drawn(random, count, high, measure)
    yield [[random.choice([60, 90, 210, 462, 30_030, 60_060]) for _ in range(3000)], 6]
    yield drawn(random, 100_000, 100_000, 1)
    yield drawn(random, 100_000, 100_000, 2)
    yield [list(range(1, 100_001)), 1]
    yield [[55_440, 83_160, 98_280, 90_090] * 25_000, 2]
    yield [[1] * 100_000, 1]
    yield [[60_060, 90_090] * 50_000, 30_030]
