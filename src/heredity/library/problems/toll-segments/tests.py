def small(random):
    high = random.choice([3, 10, 50])
    tolls = [random.randint(-high, high) for _ in range(random.randint(0, 10))]
    return [tolls, random.randint(1, random.choice([2, 5, 12])), random.choice([1, 1, 2, 3, 6])]


def cases(random):
    yield [[], 1, 1]
    yield [[0], 10**12, 1]
    yield [[-7], 7, 1]
    yield [[-1, -2, -3], 3, 1]
    yield [[1, -1, 1, -1], 10**12, 2]
    yield [[4, 4, 4], 2, 4]
    yield [[4, 4, 4], 2, 3]
    for _ in range(10):
        high = random.choice([2, 100, 10**12])
        tolls = [random.randint(-high, high) for _ in range(random.randint(100, 900))]
        yield [tolls, random.choice([1, 2, 7, 60, 10**6]), random.choice([1, 2, 10, 90])]
    count = 60_000
    yield [[0] * count, 10**12, 1]
    yield [[1] * count, 1, 100]
    yield [[random.randint(-(10**12), 10**12) for _ in range(count)], 999_999_937, 1]
    yield [[random.randint(-5, 5) for _ in range(count)], 97, 5000]
    yield [[-(10**12)] * count, 10**12 - 1, 2]
