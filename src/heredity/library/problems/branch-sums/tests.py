def grown(random, count, path, value):
    """Level order of a random tree: each node hangs below the one before, with the chance `path`, or anywhere."""
    below, free = [[None, None] for _ in range(count)], [(0, 0), (0, 1)]
    for node in range(1, count):
        at = len(free) - random.randint(1, 2) if random.random() < path else random.randrange(len(free))
        free[at], free[-1] = free[-1], free[at]
        parent, side = free.pop()
        below[parent][side] = node
        free += [(node, 0), (node, 1)]
    values, queue = [], [0] if count else []
    for node in queue:
        values.append(None if node is None else value())
        if node is not None:
            queue += below[node]
    while values and values[-1] is None:
        values.pop()
    return values


def small(random):
    low = random.choice([-5, 0])
    tree = grown(random, random.randint(0, 9), random.random(), lambda: random.randint(low, 5))
    return [tree, random.randint(1, 6)]


def cases(random):
    yield [[], 1]
    yield [[-7], 7]
    yield [[10**9], 10**9]
    for count in (30, 300, 2000):
        for path in (0.0, 0.6, 0.95):
            yield [grown(random, count, path, lambda: random.randint(-9, 9)), random.choice([2, 3, 5])]
            yield [grown(random, count, path, lambda: random.randint(-(10**9), 10**9)), random.randint(1, 30)]
    # Sums that come back only for who forgets to leave the other side; sums beyond 32 bits.
    yield [[1, 2, 3, 4, 5, 6, 7] * 80, 11]
    yield [grown(random, 2000, 1.0, lambda: 999_999_937), 999_999_937]
    yield [grown(random, 2000, 0.97, lambda: 10**9 - random.randint(0, 1)), 10**9]
    for path, guests in ((1.0, 1), (1.0, 10**9), (0.98, 97)):
        yield [grown(random, 40_000, path, lambda: random.randint(-(10**9), 10**9)), guests]
    yield [[0] + [x for _ in range(39_999) for x in (0, None)], 12]
