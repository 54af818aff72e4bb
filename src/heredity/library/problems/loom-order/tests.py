def drawn(random, count, high, rest):
    return [[[random.randint(1, high), random.randint(1, high)] for _ in range(count)], random.randint(0, rest)]


def small(random):
    return drawn(random, random.randint(1, 5), random.choice([3, 20]), random.choice([0, 4, 50]))


def cases(random):
    yield [[[1, 1]], 0]
    yield [[[10**4, 10**4]] * 2, 10**4]
    yield [[[1, 2], [10, 11], [100, 3]], 1000]
    yield [[[9999, 10_000], [9998, 9999], [9997, 9998]] * 3, 0]
    for count in (12, 100, 700):
        for high, rest in ((10, 0), (10, 100), (10**4, 10**4), (10**4, 0), (3, 10**4)):
            yield drawn(random, count, high, rest)
        yield [[[place + 1, 2 * place + 1] for place in range(count)], 5]
    yield drawn(random, 20_000, 10**4, 10**4)
    yield drawn(random, 20_000, 10**4, 3)
    yield [[[10**4, 10**4]] * 20_000, 10**4]
    yield [[[1 + place // 2, 10**4 - place // 2] for place in range(19_999, -1, -1)], 10]
