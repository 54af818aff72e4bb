def small(random):
    high = random.choice([1, 3, 6])
    return [[random.choice([-1, 1]) * random.randint(1, high) for _ in range(random.randint(0, 12))]]


def cases(random):
    yield [[]]
    yield [[-5]]
    yield [[10**9, -(10**9)]]
    yield [[1, 2, -3]]
    yield [[5] * 999 + [-5] * 1000]
    yield [[5] * 7 + [-5] * 4 + [6] * 3 + [-6] * 9]
    for _ in range(20):
        high = random.choice([2, 30, 500, 10**9])
        yield [[random.choice([-1, 1, 1]) * random.randint(1, high) for _ in range(random.randint(100, 2000))]]
    count = 50_000
    yield [[glove for size in range(1, count // 2 + 1) for glove in (size, size + 1)]]
    yield [list(range(1, count // 2 + 1)) + list(range(-count // 2, 0))]
    yield [list(range(10**9, 10**9 - count, -1))]
    yield [[random.choice([-1, 1]) * random.randint(1, 1000) for _ in range(count)]]
    yield [[random.choice([-1, 1]) * random.randint(1, 10**9) for _ in range(count)]]
