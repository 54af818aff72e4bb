def small(random):
    high = random.choice([2, 6, 30])
    return [[random.randint(-high, high) for _ in range(random.randint(1, 10))], random.randint(0, high)]


def walk(random, count, step):
    height, out = 0, []
    for _ in range(count):
        height = max(-(10**12), min(10**12, height + random.randint(-step, step)))
        out.append(height)
    return out


def cases(random):
    yield [[5], 0]
    yield [[10**12, -(10**12)], 2 * 10**12]
    yield [[10**12, -(10**12)], 2 * 10**12 - 1]
    yield [[1, 2, 3, 4, 5, 6], 2]
    yield [[5, 5, 5, 1, 1, 1], 0]
    yield [[3, 1, 2, 9, 8, 7], 2]
    for _ in range(10):
        yield [walk(random, random.randint(100, 900), random.choice([1, 10, 1000])), random.choice([0, 1, 5, 40, 3000])]
    count = 50_000
    yield [list(range(count)), count // 2]
    yield [list(range(count, 0, -1)), count]
    yield [[place % 2 * 10 for place in range(count)], 10]
    yield [walk(random, count, 1000), 100_000]
    yield [[random.randint(-(10**12), 10**12) for _ in range(count)], 2 * 10**12]
    yield [[0] * (count // 2) + [1] * (count // 2), 0]
