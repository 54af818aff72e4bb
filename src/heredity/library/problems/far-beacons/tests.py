from math import cos, pi, sin


def drawn(random, count, high):
    return [[[random.randint(-high, high), random.randint(-high, high)] for _ in range(count)]]


def ring(random, count, radius):
    turns = [random.random() * 2 * pi for _ in range(count)]
    return [[[round(radius * cos(turn)), round(radius * sin(turn))] for turn in turns]]


def small(random):
    return drawn(random, random.randint(1, 8), random.choice([2, 10, 10**8]))


def cases(random):
    high = 10**8
    yield [[[high, high], [-high, -high]]]
    yield [[[5, 5]] * 4]
    yield [[[x, 3 * x] for x in range(-20, 20)]]
    yield [[[0, 0], [high, 0], [high, 1]]]
    yield [[[0, 0], [94_906_267, 0], [94_906_267, 1]]]
    yield [[[-47_453_133, 0], [47_453_134, 1]]]
    for count in (10, 60, 300):
        yield drawn(random, count, 30)
        yield drawn(random, count, high)
        yield ring(random, count, high)
        yield [[[x, x * x] for x in range(-count, count)]]
        yield [[[x, random.choice([0, 1])] for x in range(count)]]
    yield ring(random, 12_000, high)
    yield drawn(random, 12_000, high)
    yield [[[x, x * x] for x in range(-5999, 6000)]]
    yield [[[x * 8000, 10**8 - x * x] for x in range(10_000)] + [[0, -(10**8)]]]
    yield ring(random, 12_000, 3000)
