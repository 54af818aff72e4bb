def drawn(random, count, back, more, least):
    # A tree, and roads besides; numbers and roads are shuffled.
    names = list(range(count))
    random.shuffle(names)
    roads = [[names[i], names[random.randrange(max(0, i - back), i)]] for i in range(1, count)]
    for _ in range(more):
        a = random.randrange(count)
        roads.append([names[a], names[max(0, min(count - 1, a + random.randint(-back, back)))]])
    random.shuffle(roads)
    return [count, roads, least]


def small(random):
    count = random.randint(1, 8)
    return drawn(random, count, random.choice([1, 3]), random.randint(0, 4), random.randint(1, max(1, count // 2)))


def cases(random):
    yield [1, [], 1]
    yield [1, [[0, 0]], 1]
    yield [2, [[1, 0]], 1]
    yield [2, [[1, 0]], 2]
    yield [3, [[0, 1], [1, 2], [2, 1]], 1]
    yield [6, [[5, 5], [0, 1], [1, 2], [2, 0], [2, 3], [3, 4], [4, 5], [5, 3]], 3]
    for back, more, least in ((1, 5, 40), (2, 40, 10), (3, 60, 1), (5, 60, 20), (300, 30, 3)):
        yield drawn(random, 300, back, more, least)
        yield drawn(random, 201, back, more // 2, 100)
    count = 10_000
    yield [count, [[i, i + 1] for i in range(count - 1)], count // 4]
    yield [count, [[i, (i + 1) % count] for i in range(count)], 1]
    yield drawn(random, count, 2, 1500, 500)
    yield drawn(random, count, 4, 6000, 1)
    yield drawn(random, count, count, 5000, 2)
