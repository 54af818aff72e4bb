def drawn(random, count, high, most):
    return [[random.randint(0, high) for _ in range(count)], random.randint(max(1, most // 2), most)]


def balanced(random, count, most):
    """Baskets of which no move wins, or few."""
    size = most + 1
    baskets = [random.randint(0, 10**12 // size - 1) * size + random.randint(0, most) for _ in range(count)]
    return [[*baskets, *(basket % size + size * random.randint(0, 2) for basket in baskets)], most]


def small(random):
    return [[random.randint(0, 7) for _ in range(random.randint(1, 3))], random.choice([1, 2, 3, 4, 5, 6, 9])]


def cases(random):
    yield [[0], 1]
    yield [[10**12], 10**12]
    yield [[10**12], 10**12 - 1]
    yield [[10**12, 10**12 - 1, 1], 10**12]
    yield [[9, 9, 5], 6]
    yield [[12, 13, 3, 9], 5]
    for count in (3, 40, 700):
        for high, most in ((20, 6), (20, 30), (10**12, 2**20 - 1), (10**12, 1000), (10**12, 10**12), (10**6, 1)):
            yield drawn(random, count, high, most)
        yield balanced(random, count, 50)
    yield drawn(random, 50_000, 10**12, 10**12)
    yield drawn(random, 50_000, 10**12, 10**6)
    yield balanced(random, 25_000, 99_999)
    yield [[10**12] * 49_999, 10**9]
    yield [[10**12 - place for place in range(50_000)], 2**30]
