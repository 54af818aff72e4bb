def small(random):
    return [[random.randint(0, 60) for _ in range(random.randint(1, 6))], random.randint(0, 12)]


def cases(random):
    yield [[0], 5]
    yield [[7, 7], 0]
    for houses in (1, 20, 400, 3000):
        for high in (5, 1000, 10**14):
            for days in (30, 5000):
                yield [[random.randint(0, high) for _ in range(houses)], days]
    # Odd amounts beyond what a float holds exactly.
    yield [[10**17 + 10 * random.randint(0, 10**9) + 1 for _ in range(9)], 9]
    yield [[9 * 10**17 + 1], 40]
    yield [[random.randint(1, 10**13) for _ in range(50_000)], 60_000]
    yield [[10**13] * 50_000, 60_000]
    yield [[1] * 50_000, 60_000]
