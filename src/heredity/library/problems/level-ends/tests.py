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
    return [grown(random, random.randint(0, 12), random.random(), lambda: random.randint(-9, 9))]


def cases(random):
    yield [[]]
    yield [[7]]
    for count in (40, 400, 4000):
        for path in (0.0, 0.4, 0.8, 0.97):
            yield [grown(random, count, path, lambda: random.randint(-(10**12), 10**12))]
    yield [[(-1) ** i * 10**12 for i in range(1, 2048)]]
    yield [[(-1) ** i * 10**12 for i in range(2047)]]
    for path in (0.0, 0.9, 1.0):
        yield [grown(random, 60_000, path, lambda: random.randint(-(10**12), 10**12))]
    yield [[5] + [x for i in range(59_999) for x in (i, None)]]
    # Two long arms: the ends of a floor are far apart.
    arms = [0, 1, 2]
    for i in range(15_000):
        arms += [i, None, None, -i] if i % 3 else [None, i, -i, None]
    yield [arms]
