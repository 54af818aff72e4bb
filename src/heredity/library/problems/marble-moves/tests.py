def small(random):
    return [random.randint(1, 16), random.sample(range(1, 12), random.randint(1, 4))]


def cases(random):
    yield [1, [1]]
    yield [1, [2]]
    yield [30, [1, 3, 4]]
    for most in (60, 300, 2000):
        for count in (2, 4, 7, 10):
            yield [most, random.sample(range(1, most // 3), count)]
            yield [most, random.sample(range(1, 20), count)]
    yield [30_000, [30_000]]
    yield [30_000, list(range(1, 11))]
    yield [30_000, list(range(10, 0, -1))]
    yield [30_000, random.sample(range(1, 100), 10)]
    yield [30_000, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]]
    yield [30_000, random.sample(range(1, 1000), 9)]
