def digits(random, count, base):
    return [random.randrange(base) for _ in range(count)]


def small(random):
    base = random.choice([2, 3, 10, 10**9])
    one = digits(random, random.randint(1, 5), base)
    other = one[:] if random.random() < 0.1 else digits(random, random.randint(1, 5), base)
    return [[0] * random.choice([0, 0, 2]) + one, other, base]


def cases(random):
    yield [[0], [0, 0, 0], 2]
    yield [[1, 0, 0, 0], [1], 10**9]
    for base in (2, 10, 1000, 10**9):
        for count in (12, 200, 3000):
            same = digits(random, count, base)
            yield [digits(random, count, base), digits(random, count, base), base]
            yield [[0, 0, *same], same[:-1] + [(same[-1] + 1) % base], base]
        yield [digits(random, 700, base), [1] + digits(random, 900, base), base]
        yield [[1] + [0] * 3000, [base - 1] * 3000, base]
    base = 10**9
    yield [[1] + [0] * 59_999, [base - 1] * 59_999, base]
    yield [digits(random, 60_000, base), digits(random, 60_000, base), base]
    yield [[0] * 50_000 + [3], digits(random, 60_000, 2), 2]
