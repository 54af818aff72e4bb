def small(random):
    letters = random.choice(["a", "ab", "ab", "abc"])
    return ["".join(random.choice(letters) for _ in range(random.randint(1, 12)))]


def cases(random):
    yield ["z"]
    yield ["ba"]
    yield ["aacab" * 5]
    for _ in range(7):
        letters = random.choice(["ab", "aab", "abc"])
        part = "".join(random.choice(letters) for _ in range(random.randint(10, 300)))
        yield [part * random.randint(1, 3)]
    yield ["ab" * 400 + "aab" + "ab" * 400 + "aac"]
    count = 180_000
    yield ["a" * count]
    yield ["a" * (count // 2) + "b" + "a" * (count // 2 - 2) + "c"]
    yield ["b" * (count - 1) + "a"]
    yield ["ab" * (count // 2 - 1) + "ac"]
    words = ["a", "ab"]
    while len(words[-1]) < 120_000:
        words.append(words[-1] + words[-2])
    yield [words[-1][:120_000]]
    yield ["".join(random.choice("ab") for _ in range(count))]
