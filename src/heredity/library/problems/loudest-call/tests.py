def word(random, letters, longest):
    return "".join(random.choice(letters) for _ in range(random.randint(1, longest)))


def small(random):
    return [[word(random, "ab", random.choice([1, 2])) for _ in range(random.randint(1, 12))]]


def cases(random):
    yield [["zz"] * 3 + ["aa"] * 3]
    yield [["aa"] * 2 + ["zz"] * 3 + ["aa"]]
    yield [["a", "b", "c", "c", "b", "a"]]
    yield [["a", "b", "c", "a", "b", "c", "a"]]
    yield [["owl", "owlet", "owl", "owlet"]]
    for _ in range(20):
        heard = [word(random, "abc", random.choice([2, 3])) for _ in range(random.randint(100, 1500))]
        kinds = sorted(set(heard))
        random.shuffle(kinds)
        # All of them equally often; then two that lead.
        even = kinds * 4
        random.shuffle(even)
        yield [heard if random.random() < 0.3 else even]
    many = [f"{'q' * 5}{word(random, 'abcdefgh', 7)}" for _ in range(30_000)]
    yield [many]
    distinct = ["".join(chr(97 + number // 26**place % 26) for place in range(4)) + "owl" for number in range(15_000)]
    twice = distinct + random.sample(distinct, len(distinct))
    yield [twice]
    yield [distinct[::-1] + distinct]
    yield [["wolf"] * 15_000 + ["lynx"] * 15_000]
    yield [["wolf", "lynx", "lynx", "wolf"] * 7500]
