def drawn(random, count, number):
    return [count, [[random.randrange(count), random.randrange(count)] for _ in range(number)]]


def rings(random, count, size, links):
    # Rings of squares, and streets that lead only from earlier to later rings.
    names = list(range(count))
    random.shuffle(names)
    streets = [[names[i], names[i + 1 if (i + 1) % size and i + 1 < count else i // size * size]] for i in range(count)]
    for _ in range(links):
        a, b = sorted((random.randrange(count), random.randrange(count)))
        if a // size != b // size:
            streets.append([names[a], names[b]])
    random.shuffle(streets)
    return [count, streets]


def small(random):
    count = random.randint(1, 7)
    return drawn(random, count, random.randint(0, 2 * count))


def cases(random):
    yield [1, []]
    yield [1, [[0, 0]]]
    yield [5, []]
    yield [6, [[0, 1], [1, 0], [2, 3], [3, 2]]]
    yield [7, [[0, i] for i in range(1, 7)]]
    yield [7, [[i, 0] for i in range(1, 7)]]
    yield [60, [[i, (i + 1) % 60] for i in range(60)]]
    for size in (1, 3, 20):
        yield rings(random, 300, size, 40)
        yield rings(random, 500, size, 600)
    yield drawn(random, 700, 900)
    count = 10_000
    yield [count, [[i, i + 1] for i in range(count - 1)]]
    yield [count, [[i, (i + 1) % count] for i in range(count)]]
    yield rings(random, count, 4, 3000)
    yield drawn(random, count, 12_000)
    yield drawn(random, count, 30_000)
