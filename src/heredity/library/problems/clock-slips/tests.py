def slip(random, high, parts):
    out = ""
    for _ in range(random.randint(1, parts)):
        number = str(random.randint(0, high))
        out += (number.zfill(random.randint(1, 4)) if random.random() < 0.2 else number) + random.choice("dhms")
    return out


def small(random):
    return [[slip(random, random.choice([1, 30, 200]), 3) for _ in range(random.randint(0, 4))]]


def cases(random):
    for one in (
        "0s",
        "0d0h",
        "59s",
        "60s",
        "3600s",
        "86400s",
        "86399s",
        "24h",
        "007m",
        "10d",
        "100h100m",
        "20s20m",
        "5m5m",
    ):
        yield [[one]]
    yield [["23h", "59m", "60s"]]
    for _ in range(9):
        yield [[slip(random, random.choice([9, 100, 10**9 - 1]), 4) for _ in range(random.randint(20, 300))]]
    yield [["999999999d"] * 20_000]
    yield [["999999999s"] * 20_000]
    yield [[slip(random, 10**9 - 1, 1) for _ in range(20_000)]]
    yield [["1s1m1h1d" * 25_000]]
    yield [["0s"] * 20_000]
