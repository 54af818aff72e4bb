def small(random):
    colours, boards = random.choice([(1, 5), (2, 5), (2, 6), (3, 4), (3, 4)])
    return [
        [random.randrange(colours) for _ in range(random.randint(1, boards))],
        [random.randint(1, 9) for _ in range(colours)],
    ]


def drawn(random, boards, colours, high):
    return [[random.randrange(colours) for _ in range(boards)], [random.randint(1, high) for _ in range(colours)]]


def cases(random):
    yield [[0], [10**9]]
    yield [[3, 3, 3], [1, 1, 1, 4]]
    yield [[0, 1] * 20, [3, 3]]
    yield [[0, 1, 2, 1, 0, 2, 0], [9, 1, 5]]
    yield [[0, 1, 2, 0, 1, 2, 0], [1, 5, 9]]
    for _ in range(16):
        colours = random.choice([2, 3, 5, 12])
        yield drawn(random, random.randint(20, 60), colours, random.choice([1, 10, 10**9]))
    yield drawn(random, 130, 2, 10**9)
    yield drawn(random, 130, 3, 10**9)
    yield drawn(random, 130, 4, 9)
    yield drawn(random, 130, 20, 10**9)
    yield [[place % 2 for place in range(130)], [10**9, 10**9]]
    yield [list(range(130)), [10**9] * 130]
    yield [[*range(65), *range(64, -1, -1)], [random.randint(1, 10**9) for _ in range(65)]]
