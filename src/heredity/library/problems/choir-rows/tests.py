def singers(random, count, high, letters="abcdeABC", longest=8):
    names = set()
    while len(names) < count:
        names.add("".join(random.choice(letters) for _ in range(random.randint(1, longest))))
    names = sorted(names)
    random.shuffle(names)
    return [names, [random.randint(1, high) for _ in names]]


def small(random):
    return singers(random, random.randint(1, 8), random.choice([1, 3, 20]), "abB", 4)


def cases(random):
    yield [["b", "B"], [5, 5]]
    yield [["ab", "a", "abc"], [5, 5, 5]]
    yield [["x", "y", "z"], [9, 10, 100]]
    yield [["x", "y"], [10**9, 1]]
    for _ in range(9):
        yield singers(random, random.randint(50, 600), random.choice([3, 40, 10**9]))
    yield singers(random, 20_000, 1)
    yield singers(random, 20_000, 10**9)
    yield singers(random, 19_999, 200)
    names, heights = singers(random, 20_000, 10**9)
    yield [sorted(names), sorted(heights, reverse=True)]
