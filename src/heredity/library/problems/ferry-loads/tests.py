def small(random):
    return [[random.randint(0, random.choice([1, 6, 30])) for _ in range(random.randint(1, 8))], random.randint(1, 9)]


def cases(random):
    yield [[0], 1]
    yield [[0] * 1000, 3]
    yield [[10**9] * 2000, 1]
    yield [[10**9] * 2000, 10**9]
    for count in (1000, 5000, 20_000):
        carts = [random.randint(0, 10**9) for _ in range(count)]
        for trips in (1, 2, 7, count // 3, count - 1, count, count + 5):
            yield [carts, trips]
        yield [[1] * (count - 1) + [10**9], 2]
        yield [[10**9] + [1] * (count - 1), 2]
        yield [list(range(count)), 50]
