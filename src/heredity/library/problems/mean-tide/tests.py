def small(random):
    levels = [random.choice([random.randint(-4, 4), random.uniform(-3, 3)]) for _ in range(random.randint(1, 9))]
    return [levels, random.randint(1, len(levels))]


def cases(random):
    yield [[-1e4], 1]
    for count in (1000, 50_000):
        levels = [random.uniform(-1e4, 1e4) for _ in range(count)]
        for hours in (1, 2, 17, count // 2, count - 1, count):
            yield [levels, hours]
        yield [[-x for x in sorted(map(abs, levels))], 7]
        yield [[0.1] * count, count // 3]
        yield [[1e4, -1e4] * (count // 2), 3]
        yield [sorted(levels), count - 3]
