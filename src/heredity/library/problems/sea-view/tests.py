def small(random):
    high = random.choice([2, 9, 40])
    return [[random.randint(1, high) for _ in range(random.randint(1, 10))], random.randint(0, high // 2)]


def cases(random):
    yield [[1], 10**9]
    yield [[1, 1], 0]
    yield [[1, 1], 1]
    yield [[10**9, 1], 10**9]
    yield [[10**9, 1], 10**9 - 1]
    yield [[9, 7, 8, 5], 2]
    for _ in range(9):
        count = random.randint(50, 1000)
        houses = [random.randint(1, 1000) + (count - place) * random.choice([0, 1, 30]) for place in range(count)]
        yield [houses, random.choice([0, 1, 2, 30, 400])]
        if random.random() < 0.3:
            yield [sorted(houses, reverse=True), random.randint(0, 3)]
    count = 50_000
    yield [list(range(2 * count, 0, -2)), 2]
    yield [list(range(count, 0, -1)), 2]
    yield [[7] * count, 0]
    yield [list(range(1, count + 1)), 0]
    yield [[random.randint(1, 10**9) for _ in range(count)], 1000]
    yield [[10**9 - place * 19_000 - random.randint(0, 9000) for place in range(count)], 10_000]
