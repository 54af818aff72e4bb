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
    tree = grown(random, random.randint(0, 10), random.random(), lambda: random.randint(-6, 9))
    return [tree, random.randint(-4, 6)]


def cases(random):
    yield [[], 0]
    yield [[3], 3]
    yield [[3], 4]
    for count in (30, 300, 3000):
        for path in (0.0, 0.6, 0.95):
            yield [grown(random, count, path, lambda: random.randint(-6, 9)), random.randint(-3, 5)]
            yield [grown(random, count, path, lambda: random.randint(-(10**9), 10**9)), -(10**8)]
    yield [[10**9] * 1023, 10**9]
    yield [[-(10**9)] * 1023, -(10**9)]
    yield [[1] * 1023, 0]
    for path, least in ((0.3, 0), (1.0, -5), (1.0, 40)):
        yield [grown(random, 60_000, path, lambda: random.randint(-5, 9)), least]
    yield [[1] * 2 + [x for _ in range(59_990) for x in (None, 1)], 1]
