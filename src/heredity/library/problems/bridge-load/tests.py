def some(random, count, span, longest, heavy):
    out = []
    for _ in range(count):
        enter = random.randint(0, span)
        out.append([enter, enter + random.randint(0, longest), random.randint(1, heavy)])
    return out


def small(random):
    span = random.choice([4, 15])
    return [some(random, random.randint(1, 7), span, random.choice([0, 3, 8]), random.choice([1, 4]))]


def cases(random):
    yield [[[0, 0, 1]]]
    yield [[[0, 5, 2], [5, 5, 1], [6, 6, 3]]]
    yield [[[6, 7, 3], [0, 5, 2], [5, 6, 1]]]
    yield [[[0, 10**12, 10**9], [10**12, 10**12, 10**9]]]
    yield [[[2, 3, 9], [2, 9, 9], [5, 6, 9]]]
    for _ in range(9):
        count = random.randint(50, 500)
        yield [
            some(
                random,
                count,
                random.choice([60, 10**4, 10**11]),
                random.choice([2, 500, 10**10]),
                random.choice([1, 9, 10**9]),
            )
        ]
    count = 30_000
    yield [[[place, 10**12 - place, 10**9] for place in range(count)]]
    yield [[[place, place + 1, 1] for place in range(count)][::-1]]
    yield [some(random, count, 10**11, 9 * 10**11, 10**9)]
    yield [some(random, count, 10**4, 10, 3)]
    yield [[[7, 7, 10**9]] * count]
