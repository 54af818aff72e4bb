def small(random):
    high = random.choice([1, 4, 20])
    return [[random.randint(-high if random.random() < 0.6 else 0, high) for _ in range(random.randint(2, 9))]]


def cases(random):
    yield [[0, 0]]
    yield [[10**9, -(10**9)]]
    yield [[1, 1, 100]]
    yield [[100, 1, 1]]
    yield [[7, 0, 0, 7]]
    yield [[-7, -1, -2, -3]]
    for _ in range(20):
        high = random.choice([2, 50, 10**9])
        weights = [random.randint(-high, high) for _ in range(random.randint(20, 800))]
        yield [[abs(w) for w in weights] if random.random() < 0.4 else weights]
    count = 50_000
    yield [[10**9] * count]
    yield [[-(10**9)] * (count - 1) + [10**9]]
    yield [[random.randint(-(10**9), 10**9) for _ in range(count)]]
    yield [[random.randint(1, 10**9) for _ in range(count)]]
    yield [[1] * (count - 1) + [10**9]]
    yield [[0] * count]
