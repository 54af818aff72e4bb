def word(random, longest=10):
    return "".join(random.choice("abcdefghij") for _ in range(random.randint(1, longest)))


def cipher(random, cards, words):
    """Cards of a sound cipher of about as many words."""
    known = sorted({word(random) for _ in range(words)})
    codes = list(known)
    random.shuffle(codes)
    code = dict(zip(known, codes))
    plain = [random.choice(known) for _ in range(cards)]
    return [plain, [code[one] for one in plain]]


def small(random):
    if random.random() < 0.5:
        plain = [random.choice("abcd") for _ in range(random.randint(0, 8))]
        code = dict(zip("abcd", random.sample("abcdef", 4)))
        coded = [code[one] if random.random() < 0.9 else random.choice("abcdef") for one in plain]
        return [plain, coded]
    count = random.randint(0, 5)
    return [[random.choice("abc") for _ in range(count)], [random.choice("abc") for _ in range(count)]]


def cases(random):
    yield [["a"], ["a"]]
    yield [["a", "b", "c", "a"], ["x", "y", "z", "z"]]
    yield [["a", "b", "c", "d"], ["x", "y", "z", "x"]]
    yield [["ab", "a"], ["c", "bc"]]
    for number in range(12):
        plain, coded = cipher(random, random.randint(100, 900), random.choice([5, 60, 600]))
        place = random.randrange(len(plain) // 2, len(plain))
        if number % 3 == 1:
            coded[place] = "zzz"
        elif number % 3 == 2:
            plain[place] = "zzz"
        yield [plain, coded]
    distinct = ["".join(chr(97 + number // 26**place % 26) for place in range(4)) for number in range(30_000)]
    other = random.sample(distinct, len(distinct))
    yield [distinct, other]
    yield [distinct, other[:-1] + [other[0]]]
    yield [distinct[:-1] + [distinct[0]], other]
    yield cipher(random, 30_000, 20_000)
    yield [["same"] * 30_000, ["code"] * 29_999 + ["cods"]]
