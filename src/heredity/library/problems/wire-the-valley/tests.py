def drawn(random, count, wires, offers, low, high):
    def farm():
        return random.randrange(count)

    return [
        count,
        [[farm(), farm()] for _ in range(wires)],
        [[farm(), farm(), random.randint(low, high)] for _ in range(offers)],
    ]


def small(random):
    low = random.choice([-4, 0, 1])
    return drawn(random, random.randint(1, 6), random.randint(0, 4), random.randint(0, 12), low, 8)


def cases(random):
    yield [1, [], []]
    yield [1, [[0, 0]], [[0, 0, -5], [0, 0, 5]]]
    for count in (30, 300, 3000):
        for low in (-(10**9), 0, 10**8):
            made = drawn(random, count, count // 3, 2 * count, low, 10**9)
            made[2] += [[i, i + 1, 10**9 - i] for i in range(count - 1)]
            yield made
        yield drawn(random, count, count // 3, count // 3, 0, 9)
        chain = [[i, i + 1, random.randint(1, 10**9)] for i in range(count - 1)]
        yield [count, [], chain]
        yield [count, [], chain + [[b, a, 10**9 - 1] for a, b, _ in chain]]
    count = 20_000
    chain = [[i, i + 1, 10**9 - i] for i in range(count - 1)]
    yield [count, [], chain[::-1] + [[i, i + 2, 10**9] for i in range(count - 2)]]
    yield [count, [[i, i + 1] for i in range(0, count - 1, 2)], chain]
    made = drawn(random, count, 3000, 25_000, -(10**6), 10**9)
    yield [count, made[1], made[2] + chain]
