def drawn(random, count, number, high):
    ways = [[random.randrange(count), random.randrange(count), random.randint(1, high)] for _ in range(number)]
    return [count, ways]


def small(random):
    count = random.randint(1, 6)
    return drawn(random, count, random.randint(0, 9), random.choice([1, 3, 9]))


def cases(random):
    yield [1, [[0, 0, 10**9]]]
    yield [2, [[0, 1, 10**9]]]
    yield [2, []]
    for count in (20, 200, 2000):
        for high in (1, 5, 10**9):
            yield drawn(random, count, 3 * count, high)
        chain = [[i, i + 1, 10**9] for i in range(count - 1)]
        yield [count, chain]
        yield [count, [*chain, [count // 2, count // 2, 7]]]
        yield [count, chain + [[i, i + 1, 10**9] for i in range(count - 1)] + [[0, 1, 10**9 + 0]]]
        # Two cheapest walks, and steps back and forth that cost less than any other way round.
        yield [
            count,
            [[i, i + 1, 4] for i in range(count - 1)] + [[i, i + 2, 8] for i in range(count - 2)] + [[5, 6, 1]],
        ]
    count = 15_000
    detours = [[0, i, 4 * (count - i)] for i in range(1, count)]
    yield [count, [[i, i + 1, 10**9 - i] for i in range(count - 1)]]
    yield [count, detours + [[i + 1, i, 1] for i in range(1, count - 1)]]
    yield [
        count,
        [[count - 1 - a, count - 1 - b, c] for a, b, c in detours] + [[i, i + 1, 1] for i in range(count - 1)],
    ]
    yield drawn(random, count, 30_000, 10**9)
