def drawn(random, stations, count, period, minutes, now):
    lines = [
        [random.randrange(stations), random.randrange(stations), random.randint(1, period), random.randint(0, minutes)]
        for _ in range(count)
    ]
    return [stations, lines, random.randrange(stations), random.randrange(stations), random.randint(0, now)]


def small(random):
    return drawn(random, random.randint(1, 6), random.randint(0, 12), 9, 6, 12)


def cases(random):
    yield [1, [], 0, 0, 7]
    yield [1, [[0, 0, 5, 0]], 0, 0, 7]
    for stations in (40, 300, 2000):
        for period in (2, 50, 10**6):
            yield drawn(random, stations, 3 * stations, period, period, 10**6)
        chain = [[i, i + 1, random.randint(1, 99), random.randint(0, 99)] for i in range(stations - 1)]
        yield [stations, chain, 0, stations - 1, 3]
        yield [stations, chain, stations - 1, 0, 3]
        # Each further stop makes the way to all before it a little shorter.
        detours = [[0, i, 1, 3 * (stations - i)] for i in range(1, stations)]
        yield [stations, detours + [[i + 1, i, 1, 1] for i in range(1, stations - 1)], 0, 1, 0]
    stations = 15_000
    chain = [[i, i + 1, 10**6, 10**6 - i] for i in range(stations - 1)]
    yield [stations, chain, 0, stations - 1, 1]
    yield [stations, chain[::-1], 0, stations - 1, 10**6]
    detours = [[0, i, 1, 3 * (stations - i)] for i in range(1, stations)]
    yield [stations, detours + [[i + 1, i, 1, 1] for i in range(1, stations - 1)], 0, 1, 0]
    yield drawn(random, stations, 50_000, 10**6, 1000, 10)
