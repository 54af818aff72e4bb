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
    return [grown(random, random.randint(0, 12), random.random(), lambda: random.randint(-9, 9)), random.randint(1, 4)]


def cases(random):
    yield [[], 1]
    yield [[3], 10**9]
    yield [[3, None, 4], 10**9]
    for count in (40, 400, 4000):
        for path in (0.0, 0.5, 0.95):
            for every in (2, 3):
                yield [grown(random, count, path, lambda: random.randint(-(10**9), 10**9)), every]
    for every in (1, 2, 7):
        yield [list(range(1023)), every]
    for path, every in ((0.2, 2), (1.0, 1), (1.0, 3), (1.0, 40_000)):
        yield [grown(random, 60_000, path, lambda: random.randint(-(10**9), 10**9)), every]
