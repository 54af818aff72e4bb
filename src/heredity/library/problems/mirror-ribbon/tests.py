def small(random):
    letters = random.choice(["a", "ab", "abc"])
    count = random.randint(1, 12)
    return ["".join(random.choice(letters) for _ in range(count)), random.randint(1, min(count, 5))]


def cases(random):
    yield ["a", 1]
    yield ["ab", 2]
    yield ["aa", 2]
    yield ["abba", 4]
    yield ["abcba", 4]
    for _ in range(9):
        count = random.randint(100, 900)
        half = "".join(random.choice(random.choice(["ab", "aaab", "abc"])) for _ in range(count))
        yield [random.choice([half, half + half[::-1], half + half[-2::-1]]), random.choice([1, 2, 3, 8, count // 2])]
    count = 30_000
    yield ["a" * count, 1]
    yield ["a" * count, count // 2]
    yield ["ab" * (count // 2), 2]
    yield ["a" * (count // 2) + "b" + "a" * (count // 2 - 1), 3]
    yield ["".join(random.choice("ab") for _ in range(count)), 4]
