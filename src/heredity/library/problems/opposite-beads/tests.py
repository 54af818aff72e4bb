def small(random):
    high = random.choice([0, 1, 2, 4])
    return [[random.randint(-high, high) for _ in range(random.randint(0, 14))]]


def nested(random, depth, high):
    """Pairs around pairs, with a bead that stays here and there."""
    half = [random.choice([-1, 1]) * random.randint(1, high) for _ in range(depth)]
    return half + [-x for x in reversed(half)]


def cases(random):
    yield [[]]
    yield [[0]]
    yield [[10**9, -(10**9)]]
    for count in (50, 500, 5000):
        for high in (1, 2, 50):
            yield [[random.randint(-high, high) for _ in range(count)]]
        yield [nested(random, count // 2, 10**9)]
        yield [[3, 3, *nested(random, count // 2, 9), 3, -2]]
        yield [[x for _ in range(count // 10) for x in [7, *nested(random, 4, 9)]]]
    yield [[0] * 4999]
    yield [[1 + i % 2 for i in range(3000)]]
    yield [nested(random, 49_990, 10**9)]
    yield [[1] + nested(random, 49_990, 3) + [1]]
    yield [[random.randint(-1, 1) for _ in range(100_000)]]
    yield [list(range(1, 100_001))]
