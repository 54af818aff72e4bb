def pulls(random, rows, columns, count):
    return [[side, random.randrange((rows, columns)[side])] for side in random.choices([0, 1], k=count)]


def small(random):
    rows, columns = random.randint(1, 4), random.randint(1, 4)
    return [rows, columns, pulls(random, rows, columns, random.randint(0, 12))]


def cases(random):
    yield [1, 1, [[0, 0], [1, 0]]]
    yield [10**9, 10**9, []]
    yield [10**9, 10**9, [[0, 5], [0, 5]]]
    yield [10**9, 10**9, [[0, 5], [1, 5]]]
    yield [1, 10**9, [[0, 0]] * 5]
    for _ in range(9):
        rows, columns = random.randint(1, 300), random.randint(1, 300)
        yield [rows, columns, pulls(random, rows, columns, random.randint(50, 1000))]
    for rows, columns in ((10**9, 10**9), (20_000, 30_000), (999_999_937, 15_000), (12_000, 12_000)):
        yield [rows, columns, pulls(random, rows, columns, 30_000)]
    yield [10**9, 10**9, [[number % 2, number // 2] for number in range(30_000)]]
    yield [15_000, 15_000, [[number % 2, number // 2] for number in range(30_000)]]
    yield [50, 10**9, pulls(random, 50, 10**9, 30_000)]
