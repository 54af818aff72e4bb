def small(random):
    high = random.choice([2, 9, 100])
    places = [random.randint(random.choice([-high, 0]), high) for _ in range(random.randint(1, 11))]
    return [places, random.randint(1, (len(places) + 1) // 2)]


def cases(random):
    yield [[-(10**9)], 1]
    yield [[4, 9, 4], 2]
    yield [[9, 10, 9, 1, 1, 8, 9, 8], 3]
    yield [[1, 5, 1, 5, 1, 5, 1], 4]
    yield [[-5, -1, -5, -1, -5], 3]
    yield [[7] * 30, 12]
    for _ in range(18):
        count, high = random.randint(30, 300), random.choice([3, 50, 10**9])
        yield [
            [random.randint(-high if random.random() < 0.5 else 0, high) for _ in range(count)],
            random.randint(1, (count + 1) // 2),
        ]
    count = 10_000
    yield [[random.randint(0, 10**9) for _ in range(count)], count // 3]
    yield [[random.randint(-(10**9), 10**9) for _ in range(count)], count // 2]
    yield [[random.randint(-(10**9), 10**9) for _ in range(count)], count // 2 - 50]
    yield [[10**9] * count, count // 2]
    yield [list(range(count)), count // 2 - 1]
    yield [[min(place, count - place) for place in range(count - 1)], count // 2]
