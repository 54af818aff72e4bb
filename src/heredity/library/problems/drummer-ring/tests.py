def small(random):
    high = random.choice([1, 3, 5, 10**9])
    return [[random.randint(0, high) for _ in range(random.randint(1, 10))]]


def turned(random, ring):
    start = random.randrange(len(ring))
    return ring[start:] + ring[:start]


def cases(random):
    yield [[7]]
    yield [[7, 7]]
    yield [[7, 3]]
    yield [[1, 2, 3]]
    yield [[3, 2, 1, 2]]
    yield [[5, 5, 1, 5]]
    yield [[3, 2, 2, 1]]
    for _ in range(8):
        high = random.choice([2, 5, 1000])
        yield [[random.randint(0, high) for _ in range(random.randint(50, 800))]]
    for _ in range(6):
        # Long slopes with steps on them.
        ring = []
        while len(ring) < 500:
            slope = sorted(random.choices(range(60), k=random.randint(5, 90)), reverse=random.random() < 0.5)
            ring += slope
        yield [turned(random, ring)]
    count = 70_000
    yield [turned(random, list(range(count)))]
    yield [list(range(count, 0, -1))]
    yield [turned(random, [*range(count // 2), *range(count // 2, 0, -1)])]
    yield [turned(random, sorted(random.choices(range(count), k=count)))]
    yield [[3] * count]
    yield [[random.randint(0, 10**9) for _ in range(count)]]
    yield [[place // 2 % 2 for place in range(count)]]
