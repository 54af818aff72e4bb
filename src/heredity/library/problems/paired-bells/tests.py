def drawn(random, n, m, pitch, share=None):
    rank = random.randint(1, n * m) if share is None else max(1, int(n * m * share))
    return [[random.randint(0, pitch) for _ in range(n)], [random.randint(0, pitch) for _ in range(m)], rank]


def small(random):
    return drawn(random, random.randint(1, 6), random.randint(1, 6), random.choice([3, 20, 100]))


def cases(random):
    top = 10**12
    yield [[0], [top], 1]
    yield [[0, top], [0, top], 2]
    yield [[0, top], [0, top], 3]
    yield [[7] * 5, [7, 8], 6]
    for n, m in ((5, 40), (60, 60), (300, 20)):
        for pitch in (10, 1000, top):
            yield drawn(random, n, m, pitch)
            yield drawn(random, n, m, pitch, 1)
        yield drawn(random, n, m, top, 0.01)
    yield drawn(random, 4000, 4000, top, 0.5)
    yield drawn(random, 4000, 4000, top, 0.00001)
    yield drawn(random, 4000, 3999, 50, 0.7)
    yield [[0] * 4000, [top] * 4000, 16_000_000]
    yield drawn(random, 3999, 4000, top, 1)
