def drawn(random, high):
    low, top = sorted(random.randint(1, high) for _ in range(2))
    return [low, top, random.randint(1, 20)]


def small(random):
    return drawn(random, random.choice([30, 300, 2000]))


def cases(random):
    yield [1, 10**15, 1]
    yield [1, 10**15, 20]
    yield [10**15, 10**15, 1]
    yield [1, 1, 1]
    yield [10, 10, 7]
    yield [123_456_789_012_345, 123_456_789_012_345, 15]
    yield [99, 101, 2]
    for base in (1, 2, 7, 9, 11, 19):
        yield [1, 9_898_989_898, base]
        yield [10**9, 10**10, base]
        yield [9 * 10**14, 10**15, base]
    for high in (10**5, 10**7, 10**11, 10**15):
        for _ in range(3):
            yield drawn(random, high)
