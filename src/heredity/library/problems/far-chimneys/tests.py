def drawn(random, count, high, shares=2):
    town = [
        [random.randint(-high, high), random.randint(-high, high), int(random.randrange(shares) == 0)]
        for _ in range(count)
    ]
    town[0][2], town[1][2] = 0, 1
    random.shuffle(town)
    return [town]


def far_owner(random, count, high):
    """One owner in the corners, the other in the middle."""
    town = [[x, y, 0] for x in (-high, high) for y in (-high, high)]
    town += [[random.randint(-high // 3, high // 3), random.randint(-high // 3, high // 3), 1] for _ in range(count)]
    random.shuffle(town)
    return [town]


def small(random):
    return drawn(random, random.randint(2, 7), random.choice([2, 9, 50]), random.randint(2, 4))


def cases(random):
    high = 10**9
    yield [[[high, high, 0], [-high, -high, 1]]]
    yield [[[high, -high, 1], [-high, high, 0]]]
    yield [[[5, 0, 1], [5, 0, 0], [5, 0, 1]]]
    yield [[[0, 9, 0], [0, -9, 0], [1, 0, 1]]]
    for count in (20, 300, 2000):
        for shares in (2, 5, 50):
            yield drawn(random, count, 10**9, shares)
            yield drawn(random, count, 100, shares)
        yield far_owner(random, count, 10**6)
    yield drawn(random, 50_000, 10**9)
    yield far_owner(random, 49_000, 10**9)
    yield [[[place, -place, place % 2] for place in range(50_000)]]
