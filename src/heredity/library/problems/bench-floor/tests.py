def drawn(random, rows, columns, count, stools):
    closed = [[random.randrange(rows), random.randrange(columns)] for _ in range(count)]
    left = rows * columns - len({tuple(one) for one in closed})
    if stools and (left - stools) % 2:
        stools -= 1
    return [rows, columns, closed, stools]


def small(random):
    rows, columns = random.randint(1, 4), random.randint(1, 4)
    return drawn(random, rows, columns, random.randint(0, 3), random.randint(0, 4))


def cases(random):
    yield [1, 1, [], 0]
    yield [1, 1, [[0, 0], [0, 0]], 0]
    yield [6, 25, [], 0]
    yield [5, 25, [], 0]
    yield [1, 25, [], 3]
    yield [6, 1, [], 2]
    yield [2, 3, [[0, 0], [1, 2]], 0]
    for rows, columns in ((2, 9), (3, 8), (4, 10), (5, 9), (6, 7)):
        for stools in (1, 3, 6):
            yield drawn(random, rows, columns, random.randint(0, 5), stools)
    yield [6, 25, [], 6]
    yield drawn(random, 6, 25, 3, 6)
    yield drawn(random, 6, 24, 10, 5)
    yield [6, 25, [[2, 12], [2, 12]], 5]
