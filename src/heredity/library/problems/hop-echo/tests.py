def small(random):
    count = random.randint(1, 8)
    calls = [[random.randrange(count), random.randrange(count)] for _ in range(random.randint(0, 12))]
    return [count, calls, [random.randrange(count) for _ in range(random.randint(1, 3))], random.randint(0, 3)]


def cases(random):
    yield [1, [], [0], 1]
    yield [1, [[0, 0]], [0, 0], 0]
    for count in (50, 500, 5000):
        calls = [[random.randrange(count), random.randrange(count)] for _ in range(2 * count)]
        for hops in (1, 2, 4, 10**9):
            yield [count, calls, [random.randrange(count) for _ in range(3)], hops]
        path = [[i, i + 1] for i in range(count - 1)]
        yield [count, path, [count // 5, 0], count // 2]
        yield [count, path + [[i + 1, i] for i in range(count - 1)], [0, count - 1], count // 2 - 1]
    count = 40_000
    path = [[i, i + 1] for i in range(count - 1)]
    yield [count, path, [0], count - 1]
    yield [count, path, list(range(8000)), 32_000]
    yield [count, path[::-1], list(range(0, 8000, 2)), 30_000]
    yield [count, [[random.randrange(count), random.randrange(count)] for _ in range(80_000)], [1, 2], 9]
