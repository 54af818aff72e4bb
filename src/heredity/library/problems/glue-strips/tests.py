def small(random):
    high = random.choice([3, 20])
    return [[random.randint(1, high) for _ in range(random.randint(1, 6))]]


def cases(random):
    yield [[10**9] * 3]
    yield [[1, 10**9, 1]]
    yield [[1, 1, 1, 1, 1, 4]]
    yield [[3, 5, 4, 5, 3, 9, 1, 9]]
    for count in (9, 14, 20, 30):
        for high in (4, 50, 10**9):
            yield [[random.randint(1, high) for _ in range(count)]]
        yield [[2**place for place in range(count)]]
    yield [[random.randint(1, 10**9) for _ in range(80)]]
    yield [[10**9] * 80]
    yield [[random.choice([1, 10**9]) for _ in range(79)]]
    yield [[1 + place * place for place in range(80)]]
