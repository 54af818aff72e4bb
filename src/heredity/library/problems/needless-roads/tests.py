def small(random):
    count = random.randint(1, 7)
    return [count, [[random.randrange(count), random.randrange(count)] for _ in range(random.randint(0, 10))]]


def cases(random):
    yield [1, []]
    yield [1, [[0, 0], [0, 0]]]
    for count in (50, 500, 5000):
        for share in (0.5, 1.2):
            yield [count, [[random.randrange(count), random.randrange(count)] for _ in range(int(share * count))]]
        path = [[i, i + 1] for i in range(count - 1)]
        yield [count, path + [[count - 1, 0], [0, count // 2]]]
        yield [count, [[b, a] for a, b in reversed(path)] + path[::3]]
        random.shuffle(path)
        yield [count, path + path[::-7]]
        # Pairs, fours, eights: trees grow as deep as they can.
        step, made = 1, []
        while step < count:
            made += [[i, i + step] for i in range(0, count - step, 2 * step)] + [[count - 1, count - step]]
            step *= 2
        yield [count, made]
    count = 50_000
    path = [[i, i + 1] for i in range(count - 1)]
    yield [count, path + [[0, count - 1]] * 30_000]
    yield [count, [[i + 1, i] for i in range(count - 1)] + [[0, count - 1], [5, 9]]]
    yield [count, path[::-1] + [[random.randrange(count), random.randrange(count)] for _ in range(20_000)]]
    yield [count, [[random.randrange(count), random.randrange(count)] for _ in range(60_000)]]
