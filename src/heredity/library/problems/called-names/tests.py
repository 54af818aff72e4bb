def word(random, letters, longest):
    return "".join(random.choice(letters) for _ in range(random.randint(0, longest)))


def small(random):
    letters = random.choice(["a", "ab", "abc"])
    return [
        [word(random, letters, 5) for _ in range(random.randint(1, 7))],
        [word(random, letters, 4) for _ in range(random.randint(1, 5))],
    ]


def cases(random):
    yield [[""], ["", "a"]]
    yield [["z", "zz", "za", "y"], ["z", "zz", "y", "zzz"]]
    for letters in ("a", "az", "abcdefghijklmnopqrstuvwxyz"):
        for longest in (3, 12, 90):
            count = 3000 // (longest + 2)
            names = [word(random, letters, longest) for _ in range(count)]
            yield [names, [word(random, letters, longest) for _ in range(count)]]
            yield [names, [name[: random.randint(0, 9)] for name in names]]
    names = [word(random, "ab", 9) for _ in range(20_000)]
    yield [names, [word(random, "ab", 9) for _ in range(20_000)]]
    yield [names, [name[:3] for name in names]]
    yield [["z" * 5] * 20_000, ["z" * (i % 6) for i in range(20_000)]]
    yield [["m" * 900 + chr(97 + i % 26) for i in range(110)], ["m" * 900 + chr(97 + i % 26) for i in range(110)]]
