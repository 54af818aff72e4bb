def small(random):
    tools = random.choice([1, 2, 3, 5, 15])
    return [[random.getrandbits(tools) for _ in range(random.randint(3, 12))]]


def cases(random):
    yield [[0, 0, 0]]
    yield [[32767] * 3]
    yield [[32767] * 40]
    yield [[1, 2, 4, 8]]
    for _ in range(12):
        tools = random.choice([2, 4, 8, 15])
        yield [[random.getrandbits(tools) | random.getrandbits(tools) for _ in range(random.randint(20, 400))]]
    count = 20_000
    yield [[0] * count]
    yield [[32767 ^ 1 << random.randrange(15) for _ in range(count)]]
    yield [[random.getrandbits(15) for _ in range(count)]]
    yield [[random.getrandbits(15) | random.getrandbits(15) for _ in range(count)]]
    yield [list(range(12_000, 32_000))]
