def small(random):
    count = random.randint(1, 8)
    tracks = [[random.randrange(count), random.randrange(count)] for _ in range(random.randint(0, 8))]
    return [count, tracks, [random.randrange(count) for _ in range(random.randint(0, 3))]]


def cases(random):
    yield [1, [], []]
    yield [1, [[0, 0]], [0]]
    for count in (50, 500, 5000):
        for share in (0.4, 0.6, 1.0):
            tracks = [[random.randrange(count), random.randrange(count)] for _ in range(int(share * count))]
            yield [count, tracks, [random.randrange(count) for _ in range(4)]]
            yield [count, tracks, []]
        # Only backwards along the tracks, and only forwards.
        yield [count, [[i + 1, i] for i in range(count - 1)], [0]]
        yield [count, [[i, i + 1] for i in range(count - 1) if i != count // 3], [0]]
    count = 50_000
    path = [[i, i + 1] for i in range(count - 1)]
    random.shuffle(path)
    yield [count, path, [0]]
    yield [count, path, [count - 1]]
    yield [count, path, []]
    yield [count, [[i, i + 1] for i in range(count - 1)], [count - 1] * 2]
    yield [count, [[0, i] for i in range(1, count - 1)], list(range(1, count, 2))]
    yield [count, [[random.randrange(count), random.randrange(count)] for _ in range(35_000)], [1, 2, 3]]
