def small(random):
    high = random.choice([4, 12, 60])
    return [[[random.randint(1, high), random.randint(1, high)] for _ in range(random.randint(1, 6))]]


def golden():
    out = [1, 1]
    while out[-1] + out[-2] <= 10**18:
        out.append(out[-1] + out[-2])
    return out


def cases(random):
    yield [[[1, 1]]]
    yield [[[10**18, 10**18]]]
    yield [[[10**18, 1]]]
    yield [[[a, b] for a in range(1, 40) for b in range(1, 40)]]
    steps = golden()
    yield [[[b, a] for a, b in zip(steps, steps[1:])]]
    yield [[[a, b] for a, b in zip(steps, steps[1:])]]
    # One beside the golden ratio on each side.
    yield [[[b + more, a] for a, b in zip(steps[10:-1], steps[11:-1]) for more in (-1, 0, 1)]]
    for high in (10, 1000, 10**9, 10**15, 10**18):
        for _ in range(3):
            yield [[[random.randint(1, high), random.randint(1, high)] for _ in range(random.randint(50, 300))]]
    for _ in range(4):
        yield [[[k * b, k * a] for a, b in zip(steps[:60], steps[1:]) for k in [random.randint(1, 10**5)]]]
    last = len(steps) - 1
    yield [
        [
            random.choice(
                [[steps[last], steps[last - 1]], [steps[last - 1], steps[last]], [steps[last - 2], steps[last - 1]]]
            )
            for _ in range(2000)
        ]
    ]
    yield [[[random.randint(1, 10**18), random.randint(1, 10**18)] for _ in range(2000)]]
    yield [[[10**18 - random.randint(0, 10), random.randint(1, 10)] for _ in range(2000)]]
