from math import atan2, gcd


def turned(random, fence):
    place = random.randrange(len(fence))
    fence = fence[place:] + fence[:place]
    return [fence[::-1] if random.random() < 0.5 else fence]


def star(random, count, high):
    """Seen from a point inside, the posts lie in different directions."""
    posts = {(1, 0): [high, 0], (0, 1): [0, high], (-1, 0): [-high, 0], (0, -1): [0, -high]}
    for _ in range(count):
        x, y = random.randint(-high, high), random.randint(-high, high)
        if x or y:
            step = gcd(x, y)
            posts.setdefault((x // step, y // step), [x, y])
    return turned(random, sorted(posts.values(), key=lambda post: atan2(post[1], post[0])))


def towers(random, count, wide, high):
    """A base line, and towers on it."""
    fence, x = [[-wide * count // 2, -high]], -wide * count // 2
    last = -high
    for _ in range(count):
        top = random.choice([y for y in range(last - 3, last + 4) if y != last and -high < y <= high] or [1 - high])
        if random.random() < 0.6:
            top = random.randint(1 - high, high)
        if top != last:
            fence.append([x, top])
        x += random.randint(1, wide)
        fence.append([x, top])
        last = top
    return turned(random, [*fence, [x, -high]])


def small(random):
    return (
        star(random, random.randint(0, 8), random.randint(1, 9))
        if random.random() < 0.5
        else towers(random, random.randint(1, 5), 3, 5)
    )


def cases(random):
    yield [[[-(10**6), -(10**6)], [10**6, -(10**6)], [10**6, 10**6], [-(10**6), 10**6]]]
    yield [[[0, 0], [10**6, 999_999], [-(10**6), -999_998]]]
    yield [[[0, 0], [2, 0], [4, 0], [4, 4], [0, 4]]]
    yield [[[0, 0], [0, 7], [7, 7], [7, 0]]]
    for count, high in ((5, 30), (20, 100), (60, 10**4), (300, 10**6), (1000, 5000)):
        yield star(random, count, high)
        yield star(random, count, high)
        yield towers(random, count, 9, 50)
        yield towers(random, count, 1000, 10**6)
    yield star(random, 19_000, 10**6)
    yield towers(random, 9900, 100, 10**6)
    yield towers(random, 9900, 190, 7)
