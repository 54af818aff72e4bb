def drawn(random, count, high, saw):
    logs = [random.randint(1, high) for _ in range(count)]
    return [
        logs,
        random.randint(0, saw),
        random.randint(1, max(1, min(10**12, sum(logs) // random.choice([1, 5, 50])))),
    ]


def small(random):
    return drawn(random, random.randint(1, 5), random.choice([5, 20, 60]), random.choice([0, 1, 5, 9]))


def cases(random):
    yield [[10**9], 0, 1]
    yield [[10**9], 10**6, 2]
    yield [[1], 0, 2]
    yield [[5, 5, 5], 10**6, 3]
    yield [[5, 5, 5], 10**6, 4]
    for count in (10, 200, 1500):
        for high, saw in ((100, 3), (10**9, 0), (10**9, 10**6), (10**6, 50), (10**4, 10**4)):
            yield drawn(random, count, high, saw)
    yield [[10**9] * 1000, 0, 10**12]
    yield [[10**9] * 1000, 0, 10**12 - 7]
    yield drawn(random, 20_000, 10**9, 1000)
    yield [[10**9 - place for place in range(20_000)], 7, 20_000]
    yield [[10**9 - place for place in range(20_000)], 7, 40_000]
    yield [[10**9 - 3] * 20_000, 10**6, 10**7]
    yield [[1] * 19_999 + [10**9], 1, 10]
