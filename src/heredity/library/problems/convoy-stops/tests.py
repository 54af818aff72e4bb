def small(random):
    high = random.choice([2, 9, 30])
    return [[random.randint(1, high) for _ in range(random.randint(1, 9))], random.randint(0, 4 * high)]


def cases(random):
    yield [[1], 0]
    yield [[10_000], 10**7]
    yield [[5] * 30, 12]
    yield [[1, 9, 1, 9, 1], 10]
    yield [[6, 2, 6, 2, 6], 7]
    for _ in range(16):
        high = random.choice([3, 100, 10_000])
        count = random.randint(20, 300)
        yield [
            [random.randint(1, high) for _ in range(count)],
            random.randint(0, high * random.choice([1, 5, 50, count])),
        ]
    count = 12_000
    yield [[random.randint(1, 10_000) for _ in range(count)], 10**7]
    yield [[random.randint(1, 10_000) for _ in range(count)], 30_000]
    yield [[1] * count, 5000]
    yield [[10_000] * count, 0]
    yield [[random.randint(1, 10_000) for _ in range(count)], 2_000_000]
    yield [[place + 1 if place < 10_000 else 1 for place in range(count)], 777_777]
