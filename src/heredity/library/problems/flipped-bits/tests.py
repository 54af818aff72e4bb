def drawn(random, count, high):
    return [[sorted([random.randint(0, high), random.randint(0, high)]) for _ in range(count)]]


def small(random):
    return drawn(random, random.randint(1, 4), random.choice([3, 20, 100]))


def cases(random):
    yield [[[0, 10**13]]]
    yield [[[10**13, 10**13]]]
    yield [[[0, 2**43], [2**43 - 1, 2**43]]]
    yield [[[0, 0]]]
    for count in (5, 50, 800):
        for high in (1, 50, 10**6, 10**9, 10**13):
            yield drawn(random, count, high)
    yield [[[2**place - 1, 2**place] for place in range(43)]]
    yield [[[0, 2**place - 1] for place in range(43)]]
    yield drawn(random, 10_000, 10**13)
    yield drawn(random, 10_000, 1000)
    yield [[[0, 2**43 - 1]] * 10_000]
    yield [[[0, 10**13]] * 10_000]
