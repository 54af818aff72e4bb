def drawn(random, count, heavy, most, capacity):
    weights = [random.randint(1, heavy) for _ in range(count)]
    return [weights, [random.randint(0, most) for _ in range(count)], capacity]


def alike(random, count, heavy, capacity):
    """Values close to weights."""
    weights = [random.randint(heavy // 2, heavy) for _ in range(count)]
    return [weights, [1000 * weight + random.randint(0, 999) for weight in weights], capacity]


def small(random):
    return drawn(random, random.randint(1, 6), random.choice([4, 9]), random.choice([5, 50]), random.randint(1, 25))


def cases(random):
    yield [[2000], [10**9], 2000]
    yield [[1000], [10**9], 2000]
    yield [[1000, 2, 1], [10**9, 5, 0], 1999]
    yield [[1, 1, 1], [10**9] * 3, 2000]
    yield [[5, 5, 5], [7, 7, 7], 10]
    for count, heavy, capacity in ((12, 20, 60), (20, 40, 200), (30, 100, 400), (40, 9, 90)):
        for most in (10, 10**9):
            yield drawn(random, count, heavy, most, capacity)
        yield alike(random, count, heavy, capacity)
    yield drawn(random, 100, 60, 10**9, 2000)
    yield drawn(random, 100, 2000, 10**9, 2000)
    yield alike(random, 100, 90, 2000)
    yield alike(random, 100, 25, 2000)
    yield [[20] * 100, [10**9] * 100, 2000]
