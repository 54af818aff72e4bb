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


def drawn(random, count, path, asked, high=10**9):
    names = random.sample(range(high + 1), count)
    row = iter(names)
    tree = grown(random, count, path, lambda: next(row))
    return [tree, [[random.choice(names), random.choice(names)] for _ in range(asked)]]


def small(random):
    return drawn(random, random.randint(1, 9), random.random(), random.randint(1, 5), 9)


def cases(random):
    yield [[5], [[5, 5]]]
    for count in (20, 200, 2000):
        for path in (0.0, 0.5, 0.9, 1.0):
            yield drawn(random, count, path, count)
    yield drawn(random, 15_000, 0.0, 10_000)
    yield drawn(random, 20_000, 0.97, 10_000)
    tree = [0] + [x for i in range(1, 30_000) for x in (i, None)]
    yield [tree, [[random.randrange(9), 29_999 - random.randrange(9)] for _ in range(20_000)]]
    # Two arms: everything meets at the root.
    arms = [0, 1, 2]
    for i in range(3, 30_000, 2):
        arms += [i, None, i + 1, None]
    yield [arms, [[29_999 - 2 * random.randrange(50), 29_998 - 2 * random.randrange(50)] for _ in range(15_000)]]
