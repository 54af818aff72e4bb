def chest(random, pairs, high, extra=0):
    one, other = random.sample(range(high + 1), 2)
    tags = [one, other] + [one] * (2 * extra)
    for _ in range(pairs):
        tags += [random.randint(0, high)] * 2
    random.shuffle(tags)
    return [tags]


def small(random):
    return chest(random, random.randint(0, 6), random.choice([2, 9, 10**12]), random.randint(0, 2))


def cases(random):
    yield [[10**12, 0]]
    yield [[1 << 39, 1 << 38]]
    yield [[7, 7, 7, 6, 6, 6, 5, 5]]
    yield [[3 + (1 << 34), 3, 8, 8]]
    for _ in range(6):
        yield chest(random, 40, 30, 3)
        yield chest(random, 400, 10**12, 1)
        yield chest(random, 2000, 500, 5)
    yield [[8] * 999 + [24] * 1001]
    yield chest(random, 49_999, 10**12)
    yield chest(random, 49_990, 10**12, 9)
    yield [[2 * number for number in range(49_999)] * 2 + [10**11, 10**11 + (1 << 33)]]
    yield chest(random, 49_999, 1000)
    yield [sorted(chest(random, 49_990, 10**9)[0])]
