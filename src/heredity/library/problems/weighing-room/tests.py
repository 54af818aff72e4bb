def calls(random, count, high, undo, most):
    made = [["init"]]
    for _ in range(count):
        draw = random.random()
        if draw < undo:
            made.append(["undo", random.randint(1, most)])
        elif draw < (1 + undo) / 2:
            made.append(["add", random.randint(1, high)])
        else:
            made.append(["middle"])
    return [*made, ["middle"]]


def small(random):
    return calls(random, random.randint(1, 25), random.choice([3, 20, 100_000]), random.choice([0, 0.1, 0.3]), 3)


def cases(random):
    yield [["init"], ["middle"]]
    yield [["init"], ["undo", 1], ["middle"], ["add", 100_000], ["middle"]]
    yield [["init"], ["add", 2], ["add", 2], ["add", 1], ["undo", 1], ["middle"], ["undo", 20_000], ["middle"]]
    for _ in range(14):
        high = random.choice([2, 10, 1000, 100_000])
        yield calls(random, random.randint(50, 900), high, random.choice([0.02, 0.1, 0.25]), random.choice([1, 4, 60]))
    yield calls(random, 19_990, 100_000, 0, 1)
    yield calls(random, 19_990, 100_000, 0.01, 40)
    yield calls(random, 19_990, 3, 0.001, 300)
    made = [["init"]]
    for _ in range(6000):
        made.append(["add", random.randint(1, 100_000)])
    for place in range(6900):
        # The middle one is moved far to and fro.
        made += [["add", [1, 100_000][place // 40 % 2]], ["middle"]] if place % 80 < 40 else [["undo", 1], ["middle"]]
    yield made
    half = [["add", random.randint(1, 100_000)] for _ in range(7000)]
    yield [["init"], *half, *([["middle"], ["undo", 1]] * 6400)]
