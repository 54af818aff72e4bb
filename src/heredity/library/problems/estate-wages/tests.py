def drawn(random, above, number, high, among=None):
    people = among or range(len(above))
    orders = []
    for _ in range(number):
        kind = random.randrange(2)
        orders.append([kind, random.choice(people), 0 if kind else random.randint(-high, high)])
    return [above, orders]


def small(random):
    count = random.randint(1, 7)
    return drawn(random, [-1] + [random.randrange(i) for i in range(1, count)], random.randint(0, 10), 5)


def cases(random):
    yield [[-1], []]
    for count in (20, 200, 1000):
        wide = [-1] + [random.randrange(i) for i in range(1, count)]
        deep = [-1] + [random.randrange(max(0, i - 3), i) for i in range(1, count)]
        for above in (wide, deep, list(range(-1, count - 1)), [-1] + [0] * (count - 1)):
            yield drawn(random, above, count, 10**6)
    yield [wide, [[0, i, 10**6] for i in range(count)] + [[1, i, 0] for i in range(count)]]
    count = 15_000
    path = list(range(-1, count - 1))
    yield drawn(random, path, 10_000, 10**6, range(40))
    yield [path, [[0, 0, 10**6]] * 5000 + [[1, i, 0] for i in range(5000)]]
    yield drawn(random, [-1] + [random.randrange(max(0, i - 3), i) for i in range(1, count)], 10_000, 9, range(30))
