def small(random):
    high = random.choice([3, 15, 65535])
    return [[random.randint(0, high) for _ in range(random.randint(0, 12))], random.randint(0, high + 1)]


def cases(random):
    yield [[], 65_536]
    yield [[65_535, 0], 65_535]
    yield [[65_535, 0], 65_536]
    for _ in range(9):
        high = random.choice([31, 1000, 65_535])
        row = [random.randint(0, high) for _ in range(random.randint(100, 900))]
        yield [row, random.choice([1, 2, 16, 17, high // 2, high, high + 1])]
    count = 70_000
    yield [[12_345] * count, 1]
    yield [[random.randint(0, 65_535) for _ in range(count)], 43_690]
    yield [[2 * place % 65_536 for place in range(count)], 65_535]
    yield [[random.choice([0, 65_535]) for _ in range(count)], 65_535]
    yield [[random.randint(0, 65_535) for _ in range(count)], 32_769]
