def drawn(random, count, wide, high):
    found = set()
    while len(found) < count:
        found.add((random.randint(-wide, wide), random.randint(-high, high)))
    row = [list(point) for point in sorted(found)]
    random.shuffle(row)
    return [row]


def small(random):
    return drawn(random, random.randint(2, 9), random.choice([2, 9, 10**9]), random.choice([2, 9, 10**9]))


def cases(random):
    yield [[[-(10**9), -(10**9)], [10**9, 10**9]]]
    yield [[[-(10**9), 10**9], [10**9 - 1, -(10**9)], [10**9, 0]]]
    yield drawn(random, 300, 30, 30)
    yield drawn(random, 400, 0, 10**9)
    yield drawn(random, 400, 10**9, 0)
    for _ in range(5):
        yield drawn(random, random.randint(50, 700), 10**9, random.choice([100, 10**9]))
    yield [[[3 * i, 7 * i] for i in range(-200, 200)]]
    count = 12_000
    yield [[[5, 3 * i] for i in range(count)]]
    yield [[[3 * i, 5] for i in range(count)]]
    yield [[[2 * i, 0] for i in range(1, count // 2)] + [[0, 2 * i + 1] for i in range(count // 2)]]
    yield [[[i % 100 * 1000, i // 100 * 1000] for i in range(count)]]
    yield drawn(random, count, 10**9, 10**9)
