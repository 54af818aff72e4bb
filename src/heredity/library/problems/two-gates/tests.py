def small(random):
    high = random.choice([3, 8, 40])
    tolls = [random.randint(-high, high) for _ in range(random.randint(2, 9))]
    return [tolls, random.randint(-high, 2 * high)]


def cases(random):
    for count in (1000, 20_000, 100_000):
        # Nothing adds up: all tolls are even, the purse is odd.
        tolls = [2 * random.randint(-(10**11), 10**11) for _ in range(count)]
        yield [tolls, 2 * random.randint(-(10**11), 10**11) + 1]
        # Only the last two do.
        yield [[2 * t for t in tolls[:-2]] + [7, 10**11], 10**11 + 7]
        # The same toll everywhere, half of what is asked.
        yield [[5] * count, 10]
        yield [[5] * (count - 1) + [6], 12]
        yield [[5] * (count - 1) + [6], 11]
    yield [[10**12, -(10**12)], 0]
    yield [[10**12, 10**12], 2 * 10**12]
    for _ in range(12):
        tolls = [random.randint(-(10**12), 10**12) for _ in range(3000)]
        i, j = sorted(random.sample(range(3000), 2))
        yield [tolls, tolls[i] + tolls[j]]
