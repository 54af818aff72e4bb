def drawn(random, lamps, count):
    return [lamps, [[random.choice([-1, 1]) * random.randint(1, lamps) for _ in range(2)] for _ in range(count)]]


def possible(random, lamps, count, ones=0):
    """Wishes that a hidden way to light the lamps grants."""
    light = [None, *(random.random() < 0.5 for _ in range(lamps))]
    wishes = []
    for _ in range(count):
        a, b = (random.choice([-1, 1]) * random.randint(1, lamps) for _ in range(2))
        if light[abs(a)] != (a > 0):
            b = b if light[abs(b)] == (b > 0) else -b
        wishes.append(random.choice([[a, b], [b, a]]))
    for lamp in random.sample(range(1, lamps + 1), ones):
        wishes.append([lamp if light[lamp] else -lamp] * 2)
    return [lamps, wishes]


def renamed(random, lamps, wishes):
    """Other numbers, other signs, another order: nothing can be read from them."""
    names = random.sample(range(1, lamps + 1), lamps)
    signs = [random.choice([-1, 1]) for _ in range(lamps)]
    drawn = [[(1 if w > 0 else -1) * signs[abs(w) - 1] * names[abs(w) - 1] for w in two] for two in wishes]
    random.shuffle(drawn)
    return [lamps, drawn]


def small(random):
    lamps = random.randint(1, 6)
    if random.random() < 0.4:
        return possible(random, lamps, random.randint(0, 12))
    return drawn(random, lamps, random.randint(0, 3 * lamps))


def chain(first, last):
    """Each lit lamp of a row wants the next one lit."""
    return [[-lamp, lamp + 1] for lamp in range(first, last)]


def cases(random):
    yield [1, []]
    yield [3, [[1, -1], [2, -2]]]
    yield [2, [[1, 2], [1, -2], [-1, 2], [-1, -2]]]
    yield [2, [[1, 2], [1, -2], [-1, 2]]]
    yield [3, [[1, 1], [-1, 2], [-2, 3], [-3, -1]]]
    yield [4, [[1, 1], [-1, 2], [-2, 3], [-3, 4]]]
    for lamps in (8, 20, 60, 300):
        yield possible(random, lamps, lamps)
        yield possible(random, lamps, 3 * lamps, ones=2)
        yield drawn(random, lamps, lamps)
        yield drawn(random, lamps, lamps + lamps // 4)
    # A row where lighting any lamp leads to a contradiction at its far end, and one where leaving it dark does.
    size = 12_000
    yield [size, [*chain(1, size), [-size, -size]]]
    yield [size, [[size, size], *chain(1, size)[::-1]]]
    yield [size, [[a * sign for a in two] for sign in (1, -1) for two in [*chain(1, size // 2), [-(size // 2), -1]]]]
    half = size // 2
    row, other = chain(1, half), [[-w for w in two] for two in chain(half + 1, size)]
    yield [size, [*row, [-half, -half], *other, [size, size]]]
    yield renamed(random, size, [*row, [-half, -half], *other, [size, size]])
    # A ring in which all lamps are alike; the same with one lamp that is not.
    ring = [*chain(1, size), [-size, 1]]
    yield renamed(random, size, ring)
    yield renamed(random, size, [*ring, [5, 6000]])
    yield renamed(random, size, [*ring, [5, 6000], [-70, -7000]])
    yield possible(random, size, 25_000)
    yield possible(random, size, 24_000, ones=1000)
    yield drawn(random, size, 11_000)
    yield drawn(random, size, 13_000)
    yield possible(random, 200, 25_000)
    yield [size, [[1, lamp] for lamp in range(2, size + 1)] + [[-1, -lamp] for lamp in range(2, size + 1)]]
