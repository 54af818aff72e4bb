def small(random):
    count = random.randint(1, 10)
    return [count, [random.randrange(count) for _ in range(random.randint(0, count))]]


def cases(random):
    yield [1, [0]]
    yield [5, [4, 4, 4, 4, 4]]
    yield [6, [0, 5, 5, 0, 3]]
    for _ in range(9):
        count = random.randint(50, 900)
        span = random.choice([count, 5, count // 2])
        yield [count, [count - 1 - random.randrange(span) for _ in range(random.choice([count, count // 2]))]]
    count = 40_000
    yield [count, [0] * count]
    yield [count, [count - 1] * count]
    yield [count, list(range(count - 1, -1, -1))]
    yield [count, list(range(0, count, 2)) + list(range(0, count, 2))]
    yield [count, [random.randrange(count) for _ in range(count)]]
