def drawn(random, rows, columns, open_of_ten):
    return [["".join("." if random.randrange(10) < open_of_ten else "#" for _ in range(columns)) for _ in range(rows)]]


def small(random):
    return drawn(random, random.randint(1, 4), random.randint(1, 4), random.choice([5, 7, 9]))


def cases(random):
    yield [["."]]
    yield [["..", ".."]]
    # Two halves, each with too many fields of one colour, and a bridge.
    yield [[".#.#.", "....."]]
    yield [[".#.#.####", ".........", "####.#.#."]]
    # From above to below, side by side first: the two ends stay open.
    yield [["#.#", "...", "#.#", "#.#", "...", "#.#"]]
    for open_of_ten in (5, 6, 7, 8):
        yield drawn(random, 12, 13, open_of_ten)
        yield drawn(random, random.randint(5, 20), random.randint(5, 20), open_of_ten)
    yield [["." * 30] * 30]
    yield [["." * 29] * 29]
    yield [["#" * 30] * 30]
    yield [["." + "#" * 28 + "."] + ["." * 30] * 29]
    for open_of_ten in (6, 7, 8, 9):
        yield drawn(random, 30, 30, open_of_ten)
