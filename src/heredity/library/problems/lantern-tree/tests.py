def shape(random, count, path, low, high):
    """Level order of a random tree: a path of a share of its nodes, the others anywhere."""
    if not count:
        return []
    children = [[None, None]]
    open_places = [(0, 0), (0, 1)]
    last = 0
    while len(children) < count:
        if random.random() < path:
            side = random.randint(0, 1)
            if children[last][side] is not None:
                side = 1 - side
            place = (last, side) if children[last][side] is None else open_places[-1]
        else:
            at = random.randrange(len(open_places))
            open_places[at], open_places[-1] = open_places[-1], open_places[at]
            place = open_places.pop()
        if children[place[0]][place[1]] is not None:
            continue
        last = len(children)
        children[place[0]][place[1]] = last
        children.append([None, None])
        open_places += [(last, 0), (last, 1)]
    values, queue = [], [0]
    for node in queue:
        if node is None:
            values.append(None)
            continue
        values.append(random.randint(low, high))
        queue += children[node]
    while values and values[-1] is None:
        values.pop()
    return values


def small(random):
    return [shape(random, random.randint(0, 9), random.random(), random.choice([-5, 0, 1]), 6)]


def cases(random):
    yield [[]]
    yield [[-1]]
    for count in (1000, 30_000, 100_000):
        for path in (0.0, 0.5, 0.98):
            yield [shape(random, count, path, -(10**9), 10**9)]
            yield [shape(random, count, path, 1, 3)]
    # One path to the left, and the same to the right.
    for count in (35, 60, 50_000):
        yield [[1, 2] + [x for _ in range(count) for x in (None, random.randint(1, 9))]]
        yield [[5] + [x for i in range(count) for x in (random.randint(1, 9), None)]]
