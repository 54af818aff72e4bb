def small(random):
    high = random.choice([2, 6, 30])
    walls = [random.randint(0, high) for _ in range(random.randint(1, 11))]
    return [walls, [random.randrange(len(walls)) for _ in range(random.choice([0, 0, 1, 2, 4]))]]


def cases(random):
    yield [[5], [0, 0]]
    yield [[10**9, 0, 10**9], []]
    yield [[9, 0, 9, 0, 9], [2]]
    yield [[9, 0, 5, 0, 9], [2]]
    yield [[9, 0, 5, 0, 9], [0, 4]]
    for _ in range(9):
        high = random.choice([5, 1000, 10**9])
        walls = [random.randint(0, high) for _ in range(random.randint(100, 900))]
        yield [walls, [random.randrange(len(walls)) for _ in range(random.choice([0, 1, 5, 60]))]]
    count = 60_000
    yield [[10**9] + [0] * (count - 2) + [10**9], []]
    yield [[10**9] + [0] * (count - 2) + [10**9], [count // 2]]
    yield [[abs(2 * place - count) for place in range(count)], []]
    yield [[random.randint(0, 10**9) for _ in range(count)], [random.randrange(count) for _ in range(40)]]
    yield [[10**6] + [1] * (count - 2) + [10**6], list(range(0, count, 2))]
