def small(random):
    colours = random.choice([1, 2, 3, 5])
    shift = random.choice([0, 10**11])
    return [[shift + random.randint(0, colours) for _ in range(random.randint(1, 14))]]


def paired(random, count, colours):
    beads = []
    while len(beads) < count:
        part = [random.randint(0, colours) for _ in range(random.randint(1, 4))]
        beads += part + random.sample(part, len(part))
    return [beads[:count]]


def cases(random):
    yield [[0]]
    yield [[0, 0]]
    yield [[1, 2, 3, 4, 5, 6, 7]]
    yield [[10**12, 0, 10**12, 0]]
    for count in (20, 200, 1500):
        for colours in (1, 3, 9, 10**12):
            yield [[random.randint(0, colours) for _ in range(count)]]
            yield paired(random, count, colours)
    yield [[2**place for place in range(30)] + [2**30 - 1]]
    yield [[5] * 100_000]
    yield [list(range(100_000))]
    yield [[*range(50_000), *range(49_999, -1, -1)]]
    yield paired(random, 100_000, 10**12)
    yield [[random.randint(0, 15) for _ in range(100_000)]]
