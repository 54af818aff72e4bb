def small(random):
    return [random.randint(1, 40), random.choice([2, 3, 6, random.randint(2, 60)])]


def cases(random):
    yield from ([1, 100_000], [100_000, 2], [100_000, 100_000], [100_000, 99_999], [6, 6], [7, 6], [1, 2])
    for top in (100, 1000, 5000):
        for faces in (2, 3, 6, 20, 100):
            yield [random.randint(top // 2, top), faces]
    for faces in (6, 5000, 30_000, 60_000):
        yield [random.randint(90_000, 100_000), faces]
