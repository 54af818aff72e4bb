def small(random):
    high = random.choice([2, 6, 20])
    return [[random.randint(-high, high) for _ in range(random.randint(1, 11))], random.randint(1, 2 * high)]


def cases(random):
    yield [[10**12], 10**12]
    yield [[-5], 1]
    yield [[5, -10, 4, 3], 7]
    yield [[84, -37, 32, 40, 95], 167]
    yield [[3, -2, 5], 6]
    yield [[2, 2, -9, 2, 2], 4]
    for _ in range(10):
        high = random.choice([3, 100, 10**12])
        flows = [random.randint(-high, high) + high // 5 for _ in range(random.randint(100, 900))]
        flows = [min(10**12, flow) for flow in flows]
        yield [flows, random.randint(1, high * random.choice([1, 10, 40]))]
    count = 50_000
    yield [[10**12] * count, count * 10**12]
    yield [[1] * count, count + 1]
    yield [[1, -1] * (count // 2), 2]
    yield [[random.randint(-(10**12), 10**12) for _ in range(count)], 10**15]
    yield [[random.randint(-90, 100) for _ in range(count)], 100_000]
    yield [[-1] * (count // 2) + [1] * (count // 2), count // 2]
