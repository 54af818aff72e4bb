def drawn(random, count, load, share, feuds):
    weights = [random.randint(1, max(1, int(load * share))) for _ in range(count)]
    pairs = [random.sample(range(count), 2) for _ in range(feuds)] if count > 1 else []
    return [weights, load, pairs]


def small(random):
    count = random.randint(1, 7)
    return drawn(random, count, random.choice([5, 20, 100]), random.choice([0.3, 0.6, 1]), random.randint(0, 5))


def cases(random):
    yield [[1], 1, []]
    yield [[10**12] * 11, 10**12, []]
    yield [[1] * 6, 100, [[i, j] for i in range(6) for j in range(i)]]
    yield [[6, 5, 5, 4, 4, 3, 3], 15, []]
    yield [[4, 4, 5, 5, 6, 6, 2, 8], 20, [[0, 1], [1, 0]]]
    yield [[7, 6, 5, 4, 3, 3, 2], 10, []]
    for count in (5, 8, 9):
        for share in (0.3, 0.5, 0.7):
            yield drawn(random, count, 1000, share, 0)
            yield drawn(random, count, 10**12, share, count)
            yield drawn(random, count, 30, share, 20)
    yield drawn(random, 11, 10**12, 0.5, 0)
    yield drawn(random, 11, 1000, 0.6, 8)
    yield [[6 * 10**11] * 11, 10**12, []]
    yield drawn(random, 11, 100, 0.3, 20)
