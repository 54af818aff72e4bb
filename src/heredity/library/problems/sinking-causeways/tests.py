def drawn(random, count, number, length):
    causeways = [[random.randrange(count), random.randrange(count)] for _ in range(number)]
    events = [
        [0, random.randrange(number)] if number and random.random() < 0.6 else [1, random.randrange(count)]
        for _ in range(length)
    ]
    return [count, causeways, events]


def small(random):
    return drawn(random, random.randint(1, 6), random.randint(0, 9), random.randint(0, 12))


def cases(random):
    yield [1, [], []]
    yield [1, [[0, 0]], [[0, 0], [1, 0]]]
    for count in (20, 200, 2000):
        for share in (1, 2):
            yield drawn(random, count, share * count, 3 * count)
        path = [[i, i + 1] for i in range(count - 1)]
        yield [count, path, [[k, i] for i in range(count - 1) for k in (0, 1, 0)]]
        yield [count, path, [[k, i] for i in random.sample(range(count - 1), count - 1) for k in (0, 1)]]
        yield [count, path + path, [[0, i] for i in range(count - 1)] + [[1, 0], [0, count], [1, 0], [1, count - 1]]]
        # Sinks twice: it does not come back in between.
        yield [count, path, [[0, 3], [1, 0], [0, 3], [1, 0], [0, 2], [1, 3], [0, 3], [1, 2]]]
    count = 20_000
    path = [[i, i + 1] for i in range(count - 1)]
    yield [count, path, [[k, i] for i in range(count - 2, -1, -1) for k in (0, 1)]]
    yield [count, path, [[1, i] for i in range(20_000)] + [[0, i] for i in range(count - 1)] + [[1, 7]]]
    yield drawn(random, count, 40_000, 50_000)
    order = random.sample(range(count - 1), count - 1)
    yield [count, path, [[k, i] for i in order for k in (0, 1)]]
