def small(random):
    first = random.randint(1, 80)
    return [first, first + random.randint(0, 30)]


def cases(random):
    for top in (1, 2, 3, 4, 8, 9, 10, 99, 100):
        yield [1, top]
    yield [16, 16]
    yield [997, 997]
    for _ in range(12):
        first = random.randint(1, 10**6)
        yield [first, first + random.randint(0, 10**6)]
    for root in (1000, 40_000, 63_000):
        yield [root * root, root * root]
        yield [root * root - 1, root * (root + 1)]
    yield [1, 4 * 10**9]
    yield [2 * 10**9, 4 * 10**9]
    yield [4 * 10**9, 4 * 10**9]
    yield [3_999_999_979, 4 * 10**9 - 1]
    yield [1, 2**31]
