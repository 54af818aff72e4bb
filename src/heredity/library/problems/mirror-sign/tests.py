def small(random):
    letters = random.choice(["ab", "az", "abcdefghijklmnopqrstuvwxyz"])
    return ["".join(random.choice(letters) for _ in range(random.randint(1, 12)))]


def cases(random):
    ring = "abcdefghijklmnopqrstuvwxyz"
    yield ["q"]
    yield ["an"]
    yield ["ao"]
    yield ["bz"]
    for one in "abmnz":
        yield [ring + one]
        yield [ring + one + ring[::-1]]
    for _ in range(12):
        yield ["".join(random.choice(ring) for _ in range(random.randint(100, 3000)))]
    half = "".join(random.choice(ring) for _ in range(100_000))
    yield [half + half[::-1]]
    yield [half[1:] + "k" + half[:0:-1]]
    yield ["".join(random.choice(ring) for _ in range(200_000))]
    yield ["a" * 100_000 + "n" * 100_000]
    yield ["a" * 100_000 + "z" * 99_999]
