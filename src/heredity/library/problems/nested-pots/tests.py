def drawn(random, count, high, gap):
    return [[random.randint(1, high) for _ in range(count)], gap]


def small(random):
    high = random.choice([4, 12, 40])
    return drawn(random, random.randint(1, 8), high, random.randint(1, high))


def cases(random):
    yield [[5], 1]
    yield [[1, 3, 4, 5], 2]
    yield [[10**9, 1], 10**9 - 1]
    yield [[10**9, 2], 10**9 - 1]
    for count in (31, 200, 2000):
        for high, gap in ((100, 30), (10**9, 10**8), (10**9, 6 * 10**8), (10**6, 1), (50, 25)):
            yield drawn(random, count, high, gap)
    yield [list(range(1, 1002)), 400]
    yield [list(range(1, 1002)), 600]
    yield [[7] * 999 + [9] * 501, 2]
    yield drawn(random, 100_000, 10**9, 5 * 10**8)
    yield drawn(random, 99_999, 10**9, 10**7)
    yield [list(range(100_000, 0, -1)), 50_000]
    yield [list(range(100_000, 0, -1)), 50_001]
    yield [[5] * 100_000, 1]
