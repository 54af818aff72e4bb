def small(random):
    high = random.choice([3, 8, 20])
    return [[[random.randint(1, high), random.randint(1, 3 * high)] for _ in range(random.randint(1, 9))]]


def cases(random):
    yield [[[1, 1]]]
    yield [[[10**9, 10**9 - 1]]]
    yield [[[5, 5], [1, 5], [1, 6], [4, 7]]]
    yield [[[2, 4]] * 7]
    yield [[[6, 6], [3, 7], [3, 8], [2, 8]]]
    for _ in range(14):
        count, high = random.randint(50, 700), random.choice([5, 100, 10**9])
        late = random.choice([2, 20, count]) * high
        yield [[[random.randint(1, high), random.randint(1, late)] for _ in range(count)]]
    count = 30_000
    yield [[[random.randint(1, 10**9), random.randint(1, 10**13)] for _ in range(count)]]
    yield [[[random.randint(1, 10**9), random.randint(10**12, 10**13)] for _ in range(count)]]
    yield [[[10**9 - place, (place + 1) * 10**8] for place in range(count)]]
    yield [[[place + 1, 10**13] for place in range(count)]]
    yield [[[random.randint(1, 50), random.randint(1, 300_000)] for _ in range(count)]]
