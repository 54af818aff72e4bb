def drawn(random, count, a, n, m):
    return [[[random.randint(1, a), random.randint(1, n), random.randint(1, m)] for _ in range(count)]]


def sharing(random, count, n):
    """Years in which a - 1 and m have a common divisor."""
    found = []
    for _ in range(count):
        part = random.choice([2, 6, 1000, 65_536])
        found.append([part * random.randint(1, 9999) + 1, random.randint(n // 2, n), part * random.randint(1, 9999)])
    return [found]


def small(random):
    return drawn(random, random.randint(1, 3), random.choice([3, 20]), 40, random.choice([4, 50, 1000]))


def cases(random):
    yield [[[1, 10**18, 10**9]]]
    yield [[[10**9, 10**18, 10**9]]]
    yield [[[10**9, 1, 1], [10**9, 1, 2], [5, 2, 6]]]
    yield [[[2, 60, 999_999_937], [2, 10**18, 999_999_937]]]
    yield [[[10**9, 10**18 - 1, 10**9 - 1]]]
    for count in (3, 30, 200):
        for a, n, m in ((10, 100, 100), (10**9, 10**18, 10**9), (10**9, 10**6, 10**9), (10**9, 1000, 7)):
            yield drawn(random, count, a, n, m)
        yield sharing(random, count, 10**18)
        yield sharing(random, count, 5000)
    yield drawn(random, 1000, 10**9, 10**18, 10**9)
    yield sharing(random, 1000, 10**18)
    yield [[[10**9 - place, 10**18 - 1, 10**9 - 7 * place] for place in range(1000)]]
