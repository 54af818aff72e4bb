def drawn(random, size, count):
    return [size, [[random.randrange(size), random.randrange(size)] for _ in range(count)]]


def small(random):
    size = random.randint(1, 6)
    return drawn(random, size, random.randint(0, size))


def cases(random):
    for size in (1, 3, 5, 6, 7, 8, 9):
        yield [size, []]
        yield drawn(random, size, 2)
        yield drawn(random, size, size)
    yield [8, [[0, column] for column in range(8)]]
    yield [7, [[row, 6] for row in range(6)]]
    yield [10, []]
    yield [10, [[0, 0], [0, 0]]]
    yield drawn(random, 10, 1)
    yield drawn(random, 10, 6)
    yield drawn(random, 10, 30)
