def calls(random, count, length, ships, arriving):
    names = [f"ship {i}" for i in range(ships)] + [""]
    return [
        ["init", count],
        *(["arrive" if random.random() < arriving else "leave", random.choice(names)] for _ in range(length)),
    ]


def small(random):
    return calls(random, random.randint(1, 4), random.randint(1, 20), random.randint(1, 6), 0.6)


def cases(random):
    for count in (1, 5, 60, 10**9):
        for ships in (3, 90):
            for arriving in (0.5, 0.8):
                yield calls(random, count, 400, ships, arriving)
    yield calls(random, 2000, 20_000, 3000, 0.6)
    for count in (9000, 10**9):
        made = [["init", count], *(["arrive", f"s{i}"] for i in range(9000))]
        # Berths become free from the last to the first, and from the first on.
        made += [["leave", f"s{i}"] for i in range(8999, 4000, -1)] + [["arrive", f"t{i}"] for i in range(5200)]
        made += [["leave", f"s{i}"] for i in range(3000)] + [["arrive", f"u{i}"] for i in range(3001)]
        yield made
    # The first berths stay taken while one behind them comes and goes.
    made = [["init", 10**6], *(["arrive", f"s{i}"] for i in range(20_000))]
    for i in range(20_000):
        made += [["leave", f"s{19_999 - i % 7}"], ["arrive", f"s{19_999 - i % 7}"]]
    yield made
