def drawn(random, count, high, modulus):
    return [[random.randint(1, high) for _ in range(count)], random.randint(max(1, modulus // 2), modulus)]


def small(random):
    return drawn(random, random.randint(1, 4), random.choice([2, 3, 5, 12]), random.choice([3, 12, 64, 200]))


def cases(random):
    yield [[1], 1]
    yield [[10**9] * 50, 10**9]
    yield [[2] * 50, 10**9]
    yield [[2, 2, 2, 2], 2**29]
    yield [[2, 2, 2, 3], 2**29]
    yield [[6, 2, 3], 2**9 * 3**9]
    yield [[10, 8], 10**9]
    yield [[10, 9], 10**9]
    yield [[10, 1, 10**9], 10**9]
    yield [[6, 2, 2, 1, 7], 6**8]
    yield [[999_999_937, 999_999_929, 999_999_893], 999_999_937]
    for high in (3, 10, 1000, 10**9):
        for modulus in (100, 10**5, 10**9):
            yield drawn(random, 3, high, modulus)
            yield drawn(random, random.randint(4, 50), high, modulus)
    for _ in range(4):
        yield [[random.choice([2, 6, 10, 30]) for _ in range(4)], random.choice([2**20, 6**9, 10**9, 2**29, 30**5])]
    yield [[10**9 - place for place in range(50)], 999_999_937]
    yield [[3, 10**9, 10**9], 999_999_929]
