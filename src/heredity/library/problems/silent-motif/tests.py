def drawn(random, bells, size, strokes):
    """A motif that often begins as it ends."""
    period = random.randint(1, size)
    motif = [random.randint(1, bells) for _ in range(size)]
    if random.random() < 0.7:
        motif = [motif[i % period] for i in range(size)]
    return [bells, motif, strokes]


def small(random):
    return drawn(random, random.randint(1, 3), random.randint(1, 4), random.randint(0, 6))


def cases(random):
    yield [1, [1], 0]
    yield [1, [1], 1]
    yield [1, [1] * 20, 19]
    yield [1, [1] * 20, 20]
    yield [10**6, [7], 10**15]
    yield [2, [1], 10**15]
    yield [5, [1, 2], 2]
    yield [2, [1, 1, 2, 1, 1], 9]
    yield [2, [1, 2, 1, 2, 1], 12]
    yield [3, [1, 1, 2, 1, 1, 1], 14]
    for strokes in (15, 40, 300, 5000):
        for bells in (2, 3, 40):
            yield drawn(random, bells, random.randint(2, 9), strokes)
    # Numbers of strokes that are powers of 2 or next to them.
    for strokes in (2**49, 2**49 - 1, 2**30 + 1):
        yield drawn(random, 2, 20, strokes)
    yield [2, [1] * 20, 10**15]
    yield [2, [1, 2] * 10, 10**15 - 1]
    yield [10**6, [10**6] * 20, 10**15]
    yield [10**6, [random.randint(1, 10**6) for _ in range(20)], 10**15]
    yield [2, [1] * 19 + [2], 999_999_999_999_989]
    yield [26, ([5, 5, 9, 5, 5, 9, 5, 5] * 3)[:20], 987_654_321_987_654]
    for _ in range(3):
        yield drawn(random, 2, 20, random.randint(10**14, 10**15))
