def drawn(random, count, high, more):
    return [random.sample(range(high + 1), count), random.randint(0, more)]


def small(random):
    return drawn(random, random.randint(2, 6), random.choice([8, 40]), random.choice([0, 3, 20]))


def cases(random):
    top = 10**12
    yield [[0, top], 0]
    yield [[0, top], 1]
    yield [[0, top], top]
    yield [[0, 10, 11, 21], 1]
    yield [[0, 10, 11, 21], 2]
    yield [[0, 999, 1000], 998]
    for count in (5, 60, 900):
        for more in (0, count, 20 * count, 10**9, top):
            yield drawn(random, count, top, more)
        yield drawn(random, count, 3 * count, count)
        yield [[place * place for place in range(count)], count // 2]
    yield drawn(random, 20_000, top, 0)
    yield drawn(random, 20_000, top, 5000)
    yield drawn(random, 20_000, top, 10**7)
    yield drawn(random, 20_000, top, top)
    yield [[*range(19_999), top], 7]
    yield [[place * 49_999_999 for place in range(20_000)], 19_999 * 3]
