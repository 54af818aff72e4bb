def drawn(random, count, piece, most):
    return [[piece * random.randint(1, most) for _ in range(count)]]


def small(random):
    return drawn(random, random.randint(1, 6), random.randint(1, 6), random.randint(1, 20))


def cases(random):
    yield [[10**12]]
    yield [[10**12, 10**12 - 1]]
    yield [[6, 10, 15]]
    yield [[999_999_000_001, 999_998_000_001]]
    yield [[610 * 10**9, 377 * 10**9, 233 * 10**9]]
    for count in (10, 300, 3000):
        for piece, most in ((1, 50), (7, 10**6), (10**6, 10**6), (720_720, 1000), (999_983, 12)):
            yield drawn(random, count, piece, most)
    yield [[2**39, 2**38] * 500]
    yield drawn(random, 100_000, 1, 10**12)
    yield drawn(random, 100_000, 963_761_198, 1000)
    yield [[963_761_198_400] * 99_999 + [963_761_198_400 // 7 * 2]]
    yield [[10**12 - 11, 10**12 - 11 - 2] * 50_000]
