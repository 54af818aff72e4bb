def drawn(random, rows, columns, count):
    found = set()
    while len(found) < min(count, rows * columns - 2):
        basin = (random.randrange(rows), random.randrange(columns))
        if basin not in ((0, 0), (rows - 1, columns - 1)):
            found.add(basin)
    shut = [list(basin) for basin in found]
    random.shuffle(shut)
    return [rows, columns, shut]


def diagonal(random, size, count):
    """Closed basins near the way that most routes take."""
    found = {(p + random.randint(-2, 2), p + random.randint(-2, 2)) for p in random.sample(range(5, size - 5), count)}
    shut = [list(basin) for basin in found]
    random.shuffle(shut)
    return [size, size, shut]


def small(random):
    rows, columns = random.randint(1, 7), random.randint(2, 7)
    return drawn(random, rows, columns, random.randint(0, rows * columns // 3))


def cases(random):
    yield [1, 1, []]
    yield [1, 40_000, []]
    yield [1, 9, [[0, 4]]]
    yield [5, 5, [[2, 0], [2, 1], [2, 2], [2, 3], [2, 4]]]
    yield [40_000, 1, [[39_998, 0]]]
    for size in (12, 40, 150, 500):
        yield drawn(random, size, size, size // 2)
        yield diagonal(random, size, size // 12)
        yield drawn(random, size, 2 * size, min(110, size))
        yield [size, size, [[p, p] for p in range(1, min(size - 1, 100))][::-1]]
    yield [40_000, 40_000, []]
    yield diagonal(random, 40_000, 120)
    yield drawn(random, 40_000, 39_999, 120)
    yield [40_000, 40_000, [[20_000, 20_000 + p] for p in range(119, -1, -1)]]
