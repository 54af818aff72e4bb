def small(random):
    count = random.randint(1, 12)
    return ["".join(random.choice("SSCR") for _ in range(count)), random.randint(1, count)]


def cases(random):
    yield ["R", 1]
    yield ["RS", 1]
    yield ["RCS", 3]
    yield ["SRSCSC", 2]
    yield ["CSRSCSC", 3]
    for _ in range(9):
        count = random.randint(100, 2000)
        letters = random.choice(["SCR", "SSSCR", "CRRR", "CR"])
        days = "".join(random.choice(letters) for _ in range(count))
        yield [days, random.choice([1, 2, 5, count // 3, count - 1, count])]
    count = 100_000
    days = "".join(random.choice("SCR") for _ in range(count))
    yield [days, count // 2]
    yield ["S" * (count - 1) + "R", count // 2]
    yield ["R" * (count // 2) + "C" * (count // 2), count // 2]
    yield ["SR" * (count // 4) + "SC" * (count // 4), count // 3]
    yield [days, 11]
