def small(random):
    most = random.choice([2, 8, 30])
    ends = sorted(random.randint(-2 * most, 2 * most) for _ in range(2))
    return [[random.randint(-most, most) for _ in range(random.randint(0, 10))], *ends]


def cases(random):
    yield [[], 0, 0]
    yield [[5, 5], 10, 10]
    yield [[10**12, 10**12], 2 * 10**12, 10**13]
    yield [[-(10**12), -(10**12), 1], -(10**13), -2 * 10**12]
    yield [[5, 5, 5, 5], 10, 10]
    yield [[1, 2, 3], 7, 9]
    for _ in range(10):
        most = random.choice([5, 1000, 10**12])
        jars = [random.randint(-most, most) for _ in range(random.randint(100, 900))]
        ends = sorted(random.randint(-2 * most, 2 * most) for _ in range(2))
        yield [jars, *ends]
    count = 70_000
    jars = [random.randint(-(10**12), 10**12) for _ in range(count)]
    yield [jars, -(10**12), 10**12]
    yield [jars, -(10**13), 10**13]
    yield [[7] * count, 14, 14]
    yield [[7] * count, 15, 15]
    yield [list(range(count)), count - 9, count + 9]
