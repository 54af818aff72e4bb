def small(random):
    high = random.choice([3, 8, 20])
    return [[random.randint(1, high) for _ in range(random.randint(0, 9))], random.randint(1, 12)]


def cases(random):
    yield [[1], 1]
    yield [[10**9], 10**9]
    yield [[10**9] * 3, 10**9 - 1]
    yield [[], 10**9]
    for _ in range(20):
        count = random.randint(50, 1500)
        high = random.choice([count, 2 * count, 10 * count])
        yield [[random.randint(1, high) for _ in range(count)], random.randint(1, high)]
    count = 50_000
    whole = list(range(1, count + 1))
    random.shuffle(whole)
    yield [whole, 1]
    yield [whole[:-1] + [10**9], count]
    yield [[2 * number for number in whole], 10**9]
    yield [[random.randint(1, 60_000) for _ in range(count)], random.randint(1, 20_000)]
    yield [[random.randint(1, 10**9) for _ in range(count)], random.randint(10**8, 10**9)]
