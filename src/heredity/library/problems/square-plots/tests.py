def drawn(random, count, wide, high):
    points = [[x, y] for x in range(wide) for y in range(high)]
    return [random.sample(points, min(count, len(points)))]


def small(random):
    return drawn(random, random.randint(0, 9), random.choice([2, 3, 4]), random.choice([2, 3, 5]))


def cases(random):
    yield [[]]
    yield [[[1, 1]]]
    # A square on its tip, a rhomb and a leaning four-sided figure with equal sides across.
    yield [[[0, 1], [1, 0], [2, 1], [1, 2]]]
    yield [[[0, 3], [1, 0], [2, 3], [1, 6]]]
    yield [[[0, 0], [4, 0], [5, 2], [1, 2]]]
    yield [[[0, 0], [4, 0], [1, 2], [3, 2]]]
    yield [[[-(10**9), -(10**9)], [10**9, -(10**9)], [10**9, 10**9], [-(10**9), 10**9]]]
    # Lengths that differ by what a float or 64 bits of a product lose.
    yield [[[0, 0], [10**9, 1], [10**9, 0], [0, 1], [10**9 - 1, 0], [1, 1]]]
    for _ in range(8):
        yield drawn(random, random.randint(20, 60), random.randint(4, 9), random.randint(4, 12))
    # Rows of points on one line have the same middles, but also the same lengths only once.
    yield [[[3 * i, 2 * i] for i in range(60)]]
    yield drawn(random, 400, 20, 20)
    yield [[[x * 10**8, y * 10**8 + 7] for x in range(-10, 10) for y in range(-10, 10)][:400]]
    yield [[[i, i % 2] for i in range(400)]]
    yield [[[random.randint(-(10**9), 10**9), random.randint(-(10**9), 10**9)] for _ in range(400)]]
