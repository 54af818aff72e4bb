def small(random):
    high = random.choice([1, 3, 20, 2**30 - 1])
    return [[random.randint(0, high) for _ in range(random.randint(1, 9))]]


def cases(random):
    yield [[0]]
    yield [[2**30 - 1]]
    yield [[0] * 50]
    yield [[2**30 - 1] * 60]
    yield [[5, 5, 5]]
    for _ in range(12):
        count = random.randint(20, 600)
        lamps = random.choice([3, 10, 30])
        yield [[random.getrandbits(lamps) & random.getrandbits(lamps) for _ in range(count)]]
    for _ in range(4):
        yield [[1 << random.randrange(30) if random.random() < 0.1 else 0 for _ in range(random.randint(100, 900))]]
    count = 20_000
    yield [[1 << place % 30 for place in range(count)]]
    yield [[random.getrandbits(30) for _ in range(count)]]
    yield [[0] * (count - 1) + [2**30 - 1]]
    yield [[2**30 - 1] * count]
    yield [[1 << random.randrange(30) if random.random() < 0.001 else 0 for _ in range(count)]]
