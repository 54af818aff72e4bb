def drawn(random, count, back, inns, high):
    # Each hamlet hangs on one of the `back` before it; numbers are shuffled.
    names = list(range(count))
    random.shuffle(names)
    roads = []
    for i in range(1, count):
        pair = [names[i], names[random.randrange(max(0, i - back), i)]]
        random.shuffle(pair)
        roads.append([*pair, random.randint(1, high)])
    random.shuffle(roads)
    return [roads, [random.randrange(count) for _ in range(inns)]]


def small(random):
    return drawn(random, random.randint(1, 8), random.choice([1, 2, 8]), random.randint(1, 4), random.choice([1, 9]))


def cases(random):
    yield [[[1, 0, 5]], [1]]
    for back in (1, 3, 1000):
        yield drawn(random, 30, back, 2, 10)
        yield drawn(random, 300, back, 5, 10**6)
        yield drawn(random, 900, back, 300, 10**6)
    # Many short roads against one long road.
    yield [[[i, i + 1, 1] for i in range(50)] + [[0, 51, 10**6]], [50, 51]]
    yield [[[i, i + 1, 1] for i in range(50)] + [[0, 51, 10**6]], [50]]
    count = 15_001
    yield [[[i, i + 1, 10**6] for i in range(count - 1)], list(range(count))]
    yield [[[0, i, i] for i in range(1, count)], list(range(count))]
    yield drawn(random, count, 2, 5000, 10**6)
    yield drawn(random, count, count, 15_000, 10**6)
