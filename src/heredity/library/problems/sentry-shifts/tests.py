def drawn(random, count, wage, peace):
    quarrel = [[0 if i == j else random.randint(0, peace) for j in range(count)] for i in range(count)]
    return [[[random.randint(0, wage) for _ in range(count)] for _ in range(count)], quarrel]


def small(random):
    return drawn(random, random.randint(1, 5), random.choice([3, 30]), random.choice([0, 3, 30]))


def cases(random):
    yield drawn(random, 2, 10**9, 10**9)
    yield [[[10**9] * 10 for _ in range(10)], [[10**9 * (i != j) for j in range(10)] for i in range(10)]]
    for count in (3, 4, 6, 7, 8):
        yield drawn(random, count, 100, 0)
        yield drawn(random, count, 100, 100)
        yield drawn(random, count, 10, 1000)
        yield drawn(random, count, 10**9, 10**9)
    for wage, peace in ((10**9, 10**9), (100, 10**6), (10**6, 100), (1, 1)):
        yield drawn(random, 10, wage, peace)
