def drawn(random, colours, share):
    return ["".join("1" if random.random() < share else "0" for _ in range(colours)) for _ in range(colours)]


def small(random):
    colours = random.randint(1, 3)
    return [drawn(random, colours, random.choice([0.4, 0.7, 0.9])), random.randint(1, 6)]


def cases(random):
    yield [["1"], 10**18]
    yield [["0"], 10**18]
    yield [["1" * 10] * 10, 10**18]
    yield [["01", "10"], 10**18]
    yield [["01", "10"], 10**18 - 1]
    yield [["010", "001", "100"], 3 * 10**17]
    yield [["111", "011", "001"], 10**9]
    yield [["".join("01"[i != j] for j in range(10)) for i in range(10)], 10**18 - 1]
    yield [["".join("01"[(j - i) % 10 in (1, 3)] for j in range(10)) for i in range(10)], 10**18 - 2]
    for _ in range(12):
        yield [drawn(random, random.randint(2, 6), 0.6), random.randint(1, 60)]
    for _ in range(8):
        yield [drawn(random, 10, random.choice([0.3, 0.5, 0.8])), random.randint(10**17, 10**18)]
