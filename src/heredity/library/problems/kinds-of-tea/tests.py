def small(random):
    kinds = random.choice([1, 3, 6])
    low = random.randint(1, 4)
    return [[random.randint(1, kinds) for _ in range(random.randint(0, 11))], low, random.randint(low, 5)]


def cases(random):
    yield [[], 1, 1]
    yield [[7], 1, 10**5]
    yield [[7], 2, 2]
    yield [[1, 2, 3, 4], 5, 9]
    yield [[1, 2, 3, 4], 4, 4]
    for _ in range(10):
        count = random.randint(100, 900)
        kinds = random.choice([2, 10, count, 10**9])
        low = random.randint(1, min(12, kinds))
        yield [[random.randint(1, kinds) for _ in range(count)], low, low + random.choice([0, 1, 5, 400])]
    count = 80_000
    yield [[3] * count, 1, 1]
    yield [list(range(1, count + 1)), 1, 10**5]
    yield [list(range(1, count + 1)), count // 2, count // 2]
    yield [[random.randint(1, 300) for _ in range(count)], 250, 290]
    yield [[random.randint(1, 10**9) for _ in range(count)], 20_000, 60_000]
