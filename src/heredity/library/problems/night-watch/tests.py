def some(random, count, span, longest):
    out = []
    for _ in range(count):
        start = random.randrange(span)
        out.append([start, start + random.randint(1, longest)])
    return out


def small(random):
    return [some(random, random.randint(1, 6), random.choice([8, 25]), random.choice([2, 5]))]


def cases(random):
    yield [[[0, 10**12]]]
    yield [[[0, 1], [10**12 - 1, 10**12]]]
    yield [[[0, 100], [10, 20], [30, 40]]]
    yield [[[0, 100], [10, 20], [110, 120], [105, 106]]]
    yield [[[10, 20], [0, 5], [25, 30]]]
    yield [[[5, 6], [3, 4], [1, 2]]]
    for _ in range(9):
        count = random.randint(50, 600)
        yield [some(random, count, random.choice([count * 3, 10**6, 10**12 - 10**9]), random.choice([3, 40, 10**9]))]
    count = 30_000
    yield [[[2 * place, 2 * place + 1] for place in range(count)]]
    yield [[[2 * place, 2 * place + 2] for place in range(count)][::-1]]
    yield [[[place, 10**11 - place] for place in range(count)] + [[10**12 - 1, 10**12]]]
    yield [some(random, count, 10**12 - 10**7, 10**7)]
    yield [some(random, count, 10**6, 10)]
