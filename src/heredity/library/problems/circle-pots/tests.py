def small(random):
    pots = random.randint(3, 12)
    return [pots, random.randint(0, pots // 2 + 1)]


def cases(random):
    yield from (
        [3, 0],
        [3, 1],
        [3, 2],
        [4, 2],
        [6, 3],
        [7, 3],
        [100_000, 50_000],
        [100_000, 50_001],
        [99_999, 49_999],
        [3, 100_000],
    )
    for pots in (30, 60, 200, 1000, 3000):
        for _ in range(3):
            yield [random.randint(pots // 2, pots), random.randint(2, pots // 4)]
    for seeds in (1, 2, 300, 20_000, 33_333, 45_000):
        yield [random.randint(90_001, 100_000), seeds]
