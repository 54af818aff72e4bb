def small(random):
    base = random.choice([2, 3, 10, random.randint(2, 36)])
    return [[random.randrange(base) for _ in range(random.randint(1, 9))], base]


def cases(random):
    yield [[0, 0, 0], 7]
    yield [[0, 1, 0], 2]
    yield [[35], 36]
    yield [[9, 9], 10]
    yield [[1] * 36, 36]
    for base in (2, 3, 10, 16, 35, 36):
        for count in (20, 300, 3000):
            yield [[random.randrange(base) for _ in range(count)], base]
        yield [[base - 1] * 500, base]
    yield [[1] * 200_000, 2]
    yield [[35] * 200_000, 36]
    yield [[random.randrange(36) for _ in range(200_000)], 36]
    yield [[random.randrange(11) for _ in range(200_000)], 11]
