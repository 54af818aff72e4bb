def small(random):
    return [random.randint(1, 25)]


def cases(random):
    for rungs in (1, 2, 3, 4, 5, 50, 60, 64, 70, 100, 1000, 99_999, 100_000):
        yield [rungs]
    for top in (300, 3000, 30_000, 90_000):
        for _ in range(4):
            yield [random.randint(top // 2, top)]
