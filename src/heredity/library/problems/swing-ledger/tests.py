def small(random):
    high = random.choice([1, 4, 30])
    return [[random.randint(0, high) for _ in range(random.randint(1, 10))]]


def cases(random):
    yield [[0]]
    yield [[4, 4, 4]]
    yield [[1, 2, 1, 2]]
    yield [[10**6, 0]]
    for _ in range(9):
        high = random.choice([2, 100, 10**6])
        yield [[random.randint(0, high) for _ in range(random.randint(100, 800))]]
    count = 30_000
    yield [[0] * (count // 2) + [10**6] * (count // 2)]
    yield [[place % 2 * 10**6 for place in range(count)]]
    yield [list(range(count))]
    yield [list(range(count, 0, -1))]
    yield [[random.randint(0, 10**6) for _ in range(count)]]
    yield [[random.randint(0, 3) for _ in range(count)]]
