def small(random):
    high = random.choice([2, 9, 100])
    return [[random.randint(0, high) for _ in range(random.randint(1, 8))]]


def cases(random):
    yield [[10**9]]
    yield [[10**9] * 5]
    yield [[0, 0, 0]]
    yield [[1, 1, 100, 100, 1, 1]]
    yield [[5, 1, 8, 1, 5, 9, 2]]
    for count in (10, 13, 18, 25, 30):
        for high in (3, 100, 10**9):
            yield [[random.randint(0, high) for _ in range(count)]]
        yield [[random.choice([0, 0, 50]) for _ in range(count)]]
    yield [[random.randint(0, 10**9) for _ in range(100)]]
    yield [[10**9] + [0] * 97 + [10**9, 10**9]]
    yield [[random.choice([1, 10**9]) for _ in range(99)]]
    yield [[10**9, 10**9, 0, 0] * 20 + [10**9] * 20]
