def small(random):
    high = random.choice([2, 9, 50])
    return [[random.randint(-high, high) for _ in range(random.randint(0, 12))], random.randint(1, high)]


def cases(random):
    yield [[], 1]
    yield [[5], 1]
    yield [[10**9, -(10**9)], 10**9]
    for count in (2000, 30_000, 100_000):
        pegs = [random.randint(-(10**9), 10**9) for _ in range(count)]
        for reach in (1, 10**6, 10**9):
            yield [pegs, reach]
        yield [sorted(pegs), 1]
        yield [sorted(pegs, reverse=True), 1]
        yield [[7] * count, 1]
        yield [[random.randint(0, 3) for _ in range(count)], 2]
        yield [list(range(count, 0, -1)), count // 2]
