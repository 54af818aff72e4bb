def small(random):
    return [[random.randint(-9, 9) for _ in range(random.randint(0, 12))], random.randint(1, 5)]


def cases(random):
    yield [[], 1]
    yield [[5], 1]
    yield [[5], 10**9]
    for count in (9, 100, 1000, 5000):
        for step in (1, 2, 3, 10, count - 1, count, count + 1):
            yield [[random.randint(-(10**9), 10**9) for _ in range(count)], step]
    for step in (1, 2, 3, 99_999):
        yield [list(range(100_000)), step]
