def calls(random, room, count, names):
    made = [["init", room]]
    for _ in range(count):
        kind = random.random()
        name = random.choice(names)
        if kind < 0.5:
            made.append(["record", name, random.randint(0, 10**9)])
        elif kind < 0.97:
            made.append(["price", name])
        else:
            made.append(["forgotten"])
    return [*made, ["forgotten"]]


def small(random):
    return calls(random, random.randint(1, 4), random.randint(1, 25), ["a", "b", "c", "d", "e"])


def cases(random):
    for room, count, kinds in ((1, 2000, 3), (40, 5000, 60), (1000, 20_000, 1500), (50_000, 60_000, 70_000)):
        yield calls(random, room, count, [f"stamp {i}" for i in range(kinds)])
    for room in (1000, 30_000):
        # Filled, then asked for from the oldest on, then pushed out.
        made = [["init", room], *(["record", f"s{i}", i] for i in range(room))]
        made += [["price", f"s{i}"] for i in range(0, room, 2)]
        made += [["record", f"t{i}", i] for i in range(room)]
        yield [*made, ["forgotten"], ["price", "s0"], ["price", "t1"]]
    # The same stamp again and again makes nobody forget anything; names that are not ASCII.
    yield [
        ["init", 1],
        *(["record", "übermorgen", i] for i in range(5000)),
        ["forgotten"],
        ["price", "übermorgen"],
        ["price", ""],
    ]
    yield [
        ["init", 2],
        ["record", "", 0],
        ["record", "a", 1],
        ["price", ""],
        ["record", "b", 2],
        ["forgotten"],
        ["forgotten"],
    ]
