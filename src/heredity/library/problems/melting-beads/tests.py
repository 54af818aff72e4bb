def small(random):
    letters = random.choice(["ab", "abc", "yz", "xyz"])
    return ["".join(random.choice(letters) for _ in range(random.randint(0, 14))), random.randint(2, 3)]


def ruler(count):
    """Beads that never melt by two, as long as the string can get: abacabad... with every kind twice apart."""
    return ("ac" * count)[:count]


def cases(random):
    yield ["", 2]
    yield ["z" * 16, 2]
    yield ["a" * 7, 2]
    yield ["yzyzzz", 2]
    yield ["zazz", 2]
    yield ["abcabc", 60_000]
    for _ in range(9):
        letters = random.choice(["ab", "aab", "xyz", "abcdefghijklmnopqrstuvwxyz"])
        yield ["".join(random.choice(letters) for _ in range(random.randint(100, 1500))), random.choice([2, 2, 3, 5])]
    count = 60_000
    yield ["a" * count, 2]
    yield [ruler(count), 2]
    yield ["az" * (count // 2), 2]
    yield ["yx" * (count // 4) + "x" * (count // 2), 2]
    yield ["".join(random.choice("ab") for _ in range(count)), 3]
    yield ["a" * count, count]
