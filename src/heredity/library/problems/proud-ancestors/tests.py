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
    low = random.choice([-6, 0, 1])
    return [grown(random, random.randint(0, 9), random.random(), lambda: random.randint(low, 6))]


def cases(random):
    yield [[]]
    yield [[0]]
    yield [[-1]]
    for count in (30, 300, 3000):
        for path in (0.0, 0.6, 0.95):
            yield [grown(random, count, path, lambda: random.randint(-20, 20))]
            yield [grown(random, count, path, lambda: random.randint(-(10**9), 10**9))]
    # Sums that need more than 32 bits, and equal sums.
    yield [[10**9] * 2047]
    yield [[-(10**9)] * 2047]
    yield [grown(random, 2000, 1.0, lambda: 0)]
    for path in (0.3, 1.0):
        yield [grown(random, 60_000, path, lambda: random.randint(-(10**9), 10**9))]
    # A path on which each number is the sum of all below, but for one in ten.
    values, total = [], 0
    for _ in range(29):
        values.append(total + random.randint(0, 1))
        total += values[-1]
    yield [[values[-1]] + [x for value in values[-2::-1] for x in (value, None)]]
    yield [[5] + [x for _ in range(59_999) for x in (None, random.randint(-9, 9))]]
