def mixed(random, squares, lanes):
    """Rename squares, turn lanes round and shuffle them, so that nothing can be read from the order."""
    names = list(range(squares))
    random.shuffle(names)
    turned = [[names[a], names[b]][:: random.choice([1, -1])] for a, b in lanes]
    random.shuffle(turned)
    return [squares, turned]


def wandered(random, squares, count):
    """The lanes of a walk that is there, over `squares` squares."""
    tour = [random.randrange(squares) for _ in range(count + 1)]
    return [list(pair) for pair in zip(tour, tour[1:])]


def small(random):
    squares, count = random.randint(1, 5), random.randint(1, 7)
    if random.random() < 0.5:
        return mixed(random, squares, wandered(random, squares, count))
    return [squares, [[random.randrange(squares) for _ in range(2)] for _ in range(count)]]


def ring(first, count):
    return [[first + i, first + (i + 1) % count] for i in range(count)]


def cases(random):
    yield [1, [[0, 0]]]
    yield [2, [[1, 1], [1, 1], [1, 0]]]
    yield [2, [[0, 1]] * 5]
    yield [2, [[1, 0]] * 6]
    # Two parts, each of which could be walked by itself.
    yield mixed(random, 9, ring(0, 4) + ring(4, 5))
    yield mixed(random, 6, [[0, 1], [1, 2], *ring(3, 3)])
    yield mixed(random, 4, [[0, 1], [2, 2], [3, 3]])
    # Who turns into a dead end too early leaves something behind.
    yield [6, [[0, 1], [1, 2], [2, 3], [3, 1], [1, 4], [4, 5], [5, 1]]]
    yield [4, [[3, 0], [0, 1], [1, 2], [2, 0]]]
    yield mixed(random, 7, [[0, 1], [0, 2], [0, 3], [3, 4], [4, 5], [5, 3], [1, 2]])
    for squares, count in ((5, 12), (8, 30), (40, 60), (60, 400), (500, 900), (3, 200)):
        lanes = wandered(random, squares, count)
        yield mixed(random, squares, lanes)
        yield mixed(random, squares, [*lanes, [lanes[-1][1], lanes[0][0]]])
        yield mixed(random, squares, [*lanes, [random.randrange(squares) for _ in range(2)]])
    yield mixed(random, 50_000, ring(20_000, 30_000))
    yield mixed(random, 30_001, [[i, i + 1] for i in range(30_000)])
    # A flower: thousands of short rounds that all begin on one square.
    yield mixed(random, 20_001, [lane for i in range(1, 20_001, 2) for lane in ([0, i], [i, i + 1], [i + 1, 0])])
    yield mixed(random, 2, [[0, 1]] * 29_999)
    yield mixed(random, 1, [[0, 0]] * 30_000)
    yield mixed(random, 30_000, ring(0, 14_999) + ring(14_999, 15_001))
    yield mixed(random, 50_000, wandered(random, 50_000, 30_000))
    yield mixed(random, 200, wandered(random, 200, 30_000))
    yield mixed(random, 20_000, [*wandered(random, 20_000, 29_990), *([[7, 8]] * 3)])
