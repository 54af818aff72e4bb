def small(random):
    high = random.choice([1, 3, 12])
    return [[random.randint(1, high) for _ in range(random.randint(1, 10))]]


def cases(random):
    yield [[10**9]]
    yield [[10**9, 10**9 - 1]]
    yield [[1] * 50]
    yield [[12, 2, 11, 1, 10, 3]]
    for _ in range(20):
        high = random.choice([3, 20, 10**6])
        yield [[random.randint(1, high) for _ in range(random.randint(50, 1000))]]
    count = 40_000
    yield [[10**9] * count]
    yield [list(range(count, 0, -1))]
    yield [[random.randint(1, 10**9) for _ in range(count)]]
    yield [[random.randint(1, 5) for _ in range(count)]]
    yield [[1, 10**9] * (count // 2)]
