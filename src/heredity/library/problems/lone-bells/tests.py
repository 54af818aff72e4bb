def small(random):
    high = random.choice([3, 6, 12])
    return [[random.randint(1, high) for _ in range(random.randint(1, 4))], random.randint(1, 40)]


def cases(random):
    yield [[1], 10**12]
    yield [[1, 1], 1]
    yield [[1000, 1000, 999], 10**12]
    yield [[2, 2, 3, 3, 5, 5, 997], 10**12]
    yield [[1, 2, 4, 8], 5]
    yield [[2, 4], 10**9]
    yield [[6, 10, 15], 7]
    yield [[2, 3, 4, 5, 6, 7, 8, 9], 10**12]
    yield [[6, 6, 4, 10], 10**11]
    yield [[12, 18, 3, 3], 1]
    yield [[997, 991, 983, 977, 971, 967, 953, 947], 10**12]
    yield [[997, 991, 983, 977, 971, 967, 953, 947], 10**6]
    for high in (5, 30, 1000):
        for _ in range(4):
            yield [[random.randint(1, high) for _ in range(random.randint(2, 8))], random.randint(1, 10**12)]
    for _ in range(4):
        base = random.randint(2, 9)
        yield [[base * random.randint(1, 100) for _ in range(8)], random.randint(1, 10**12)]
    for _ in range(4):
        yield [[random.randint(2, 50) for _ in range(3)], random.randint(1, 1000)]
