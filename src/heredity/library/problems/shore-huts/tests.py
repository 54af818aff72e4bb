def small(random):
    high = random.choice([1, 3, 10, 10**9])
    return [[random.randint(-high, high) for _ in range(random.randint(1, 11))]]


def cases(random):
    yield [[0]]
    yield [[4, 4, 1, 4, 4, 4]]
    yield [[1, 2, 3, 4, 5]]
    yield [[5, 4, 3, 2, 1]]
    yield [[3, 1, 3, 1, 3, 3]]
    for _ in range(14):
        high = random.choice([1, 4, 50, 10**9])
        yield [[random.randint(-high, high) for _ in range(random.randint(30, 700))]]
    count = 30_000
    yield [list(range(count))]
    yield [list(range(count, 0, -1))]
    yield [[7] * count]
    yield [[min(place, count - place) for place in range(count)]]
    yield [[random.randint(-(10**9), 10**9) for _ in range(count)]]
    yield [[random.randint(0, 3) for _ in range(count)]]
