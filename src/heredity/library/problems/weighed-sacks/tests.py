def drawn(random, count, heavy):
    sacks = [random.randint(1, heavy) for _ in range(count)]
    ends = sorted(random.randint(0, sum(sacks)) for _ in range(2))
    return [sacks, *ends]


def small(random):
    return drawn(random, random.randint(1, 9), random.choice([3, 20, 1000]))


def cases(random):
    yield [[1], 0, 0]
    yield [[10**12] * 32, 0, 10**14]
    yield [[10**12] * 32, 16 * 10**12, 16 * 10**12]
    yield [[1] * 20, 10, 10]
    yield [[3, 5, 8], 17, 10**14]
    for count in (10, 14, 17):
        for heavy in (4, 1000, 10**12):
            yield drawn(random, count, heavy)
            case = drawn(random, count, heavy)
            total = sum(random.sample(case[0], count // 2))
            yield [case[0], total, total]
    yield [[2**place for place in range(32)], 5, 2**31]
    yield drawn(random, 32, 10**12)
    yield drawn(random, 31, 10**12)
    sacks = [random.randint(10**11, 10**12) for _ in range(32)]
    yield [sacks, sum(sacks[::2]), sum(sacks[::2])]
