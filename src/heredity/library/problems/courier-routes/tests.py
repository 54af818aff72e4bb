def small(random):
    towns = random.randint(1, 6)
    high = random.choice([0, 3, 20])
    roads = [
        [random.randrange(towns), random.randrange(towns), random.randint(0, high)]
        for _ in range(random.randint(0, 14))
    ]
    return [towns, roads, random.randrange(towns)]


def cases(random):
    yield [1, [], 0]
    yield [2, [], 1]
    for towns, count in ((500, 2000), (5000, 30_000), (20_000, 60_000)):
        ring = [[i, (i + 1) % towns, random.randint(0, 10**9)] for i in range(towns)]
        more = [
            [random.randrange(towns), random.randrange(towns), random.randint(0, 10**9)] for _ in range(count - towns)
        ]
        yield [towns, ring + more, random.randrange(towns)]
        yield [towns, [[a, b, 10**9] for a, b, _ in ring], 0]
        yield [towns, [[a, b, 0] for a, b, _ in ring[::-1]], 0]
        # Each detour over the next town is a little shorter than what was known: waiting lists without order do it all again.
        yield [
            towns,
            [[0, i, 2 * (towns - i)] for i in range(1, towns)] + [[i + 1, i, 1] for i in range(1, towns - 1)],
            0,
        ]
        yield [towns, more, 0]
        yield [towns, [[b, a, minutes] for a, b, minutes in ring + more], towns - 1]
