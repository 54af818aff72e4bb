def drawn(random, count, most, high, common):
    found = []
    for _ in range(count):
        step = random.randint(1, common)
        a, b = (step * random.randint(1, max(1, high // common)) for _ in range(2))
        found.append([random.randint(max(1, most // 9), most), a, b])
    return [found]


def small(random):
    return drawn(random, random.randint(1, 3), random.choice([9, 60]), 15, random.choice([1, 3, 5]))


def cases(random):
    yield [[[10**15, 1, 1]]]
    yield [[[10**15, 1, 2]]]
    yield [[[10**15, 10**9, 10**9 - 1], [10**15, 10**9, 5 * 10**8]]]
    yield [[[1, 1, 10**9]]]
    yield [[[10**15, 701_408_733, 433_494_437]]]
    for count in (4, 60, 800):
        for high, common in ((10, 3), (10**4, 1), (10**6, 10**3), (10**9, 10**6)):
            yield drawn(random, count, 10**15, high, common)
    yield drawn(random, 10_000, 10**15, 10**9, 1)
    yield drawn(random, 10_000, 10**15, 10**9, 10**5)
    yield drawn(random, 10_000, 10**15, 100, 10)
    yield [[[10**15, 701_408_733, 433_494_437]] * 10_000]
