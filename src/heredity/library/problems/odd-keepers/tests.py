def small(random):
    return [random.randint(0, random.choice([5, 40, 300]))]


def cases(random):
    for lamps in (1, 2, 3, 7, 8, 10**6, 10**6 - 1, 2 * 10**6, 2 * 10**6 - 1, 10**12, 10**12 - 1, 2**39, 2**39 - 1):
        yield [lamps]
    for _ in range(4):
        root = random.randint(300_000, 700_000)
        yield [root * root]
        yield [root * root - 1]
        yield [2 * root * root]
        yield [2 * root * root - 1]
    for top in (10**4, 10**7, 10**9, 10**11):
        yield [random.randint(top // 2, top)]
        yield [random.randint(top // 2, top)]
