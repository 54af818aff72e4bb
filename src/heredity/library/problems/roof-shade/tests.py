def small(random):
    high = random.choice([2, 4, 20])
    return [[random.randint(1, high) for _ in range(random.randint(1, 11))]]


def cases(random):
    yield [[1, 1]]
    yield [[3, 1, 2, 3]]
    yield [[3, 1, 1, 1, 3]]
    yield [[10**9, 1, 10**9 - 1, 1, 1, 10**9]]
    for _ in range(9):
        high = random.choice([3, 50, 10**9])
        yield [[random.randint(1, high) for _ in range(random.randint(100, 800))]]
    count = 40_000
    yield [[6] * count]
    yield [[1] * (count - 1) + [2]]
    yield [list(range(count, 0, -1))]
    yield [[random.randint(1, 10**9) for _ in range(count)]]
    yield [[abs(place - count // 2) + 1 for place in range(count)]]
