def small(random):
    return [[random.randint(1, random.choice([4, 7])) for _ in range(random.randint(1, 3))]]


def cases(random):
    yield [[1]]
    yield [[1] * 1000]
    yield [[2, 3]]
    yield [[9, 9, 4]]
    yield [[400]]
    for count in (1, 2, 5, 60):
        for high in (12, 60, 200):
            yield [[random.randint(1, high) for _ in range(count)]]
    for high in (25, 90):
        row = random.randint(high // 2, high)
        yield [[row, row, random.randint(2, high)]]
        yield [[row, row]]
    yield [[random.randint(1, 400) for _ in range(1000)]]
    yield [[400] * 999]
    yield [list(range(1, 401))]
    yield [[random.randint(390, 400) for _ in range(501)]]
