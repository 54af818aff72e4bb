from math import lcm


def fitted(random, teeth, start):
    """Wheels that do show their marks on one day."""
    day = random.randint(0, 10**18)
    return [[[one, day % one] for one in teeth], start]


def small(random):
    teeth = [random.randint(1, 12) for _ in range(random.randint(1, 3))]
    if random.random() < 0.7:
        return fitted(random, teeth, random.choice([0, random.randint(0, 5000)]))
    return [[[one, random.randrange(one)] for one in teeth], random.randint(0, 300)]


def smooth(random, count, limit):
    teeth = []
    while len(teeth) < count:
        one = random.choice([2, 3, 4, 6, 8, 9, 10, 12, 15, 30, 49, 77, 1000, 1024, 9699690, 735_134_400])
        if lcm(one, *teeth) <= limit:
            teeth.append(one)
        elif len(teeth) > 2:
            teeth.append(random.choice(teeth))
    return teeth


def cases(random):
    yield [[[1, 0]], 10**18]
    yield [[[10**9, 10**9 - 1]], 10**18]
    yield [[[10**9, 7], [10**9, 8]], 5]
    yield [[[10**9, 7], [10**9, 7]], 0]
    yield fitted(random, [10**9, 10**9 - 1], 0)
    yield fitted(random, [10**9 - 1, 10**9], 10**18)
    yield fitted(random, [999_999_937, 999_999_929], 10**18)
    yield [[[999_999_937, 0], [999_999_929, 999_999_928]], 0]
    yield fitted(random, [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43], 0)
    yield fitted(random, [2**29, 3**18], 10**17)
    for count in (3, 8, 30):
        for limit in (10**6, 10**12, 10**18):
            teeth = smooth(random, count, limit)
            case = fitted(random, teeth, random.randint(0, 10**18))
            yield case
            yield [case[0], 0]
            yield [[[one, random.randrange(one)] for one in teeth], random.randint(0, 10**9)]
