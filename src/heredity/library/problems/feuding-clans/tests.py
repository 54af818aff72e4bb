def told(random, count, number, lies):
    """Sayings that are true but for some."""
    clan = [random.randint(0, 1) for _ in range(count)]
    made = []
    for _ in range(number):
        a, b = random.randrange(count), random.randrange(count)
        made.append([a, b, clan[a] ^ clan[b] ^ (random.random() < lies)])
    return made


def small(random):
    count = random.randint(1, 6)
    return [count, told(random, count, random.randint(0, 10), 0.1)]


def cases(random):
    yield [1, [[0, 0, 0]]]
    yield [1, [[0, 0, 0], [0, 0, 1]]]
    for count in (20, 200, 2000):
        for lies in (0, 0.3 / count):
            yield [count, told(random, count, 2 * count, lies)]
        ring = [[i, i + 1, 1] for i in range(count - 1)]
        yield [count, [*ring, [0, count - 1, 0], [0, count - 1, 1]]]
        yield [count, [*ring[::-1], [count - 2, 0, 0], [count - 2, 0, 1], [0, 0, 1]]]
        yield [count, [[0, i, 1] for i in range(1, count)] + [[3, 4, 0], [5, 6, 0], [5, 7, 1]]]
        yield [count, [[2 * i, 2 * i + 1, 1] for i in range(count // 2)] + [[1, 3, 0], [0, 2, 0], [1, 2, 0]]]
    count = 25_000
    ring = [[i, i + 1, random.randint(0, 1)] for i in range(count - 1)]
    odd = sum(apart for _, _, apart in ring) % 2
    yield [count, [*ring, [0, count - 1, odd], [count - 1, 0, 1 - odd]]]
    yield [count, [*ring[::-1], *ring, [0, count - 1, 1 - odd]]]
    random.shuffle(ring)
    yield [count, [*ring, *[[0, count - 1, odd]] * 30_000, [0, count - 1, 1 - odd]]]
    yield [count, told(random, count, 60_000, 0)]
