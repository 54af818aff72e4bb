def small(random):
    jobs = random.randint(1, 7)
    order = random.sample(range(jobs), jobs)
    rules = []
    for _ in range(random.randint(0, 9)):
        a, b = random.randrange(jobs), random.randrange(jobs)
        if a < b or (random.random() < 0.06):
            rules.append([order[a], order[b]])
    return [jobs, rules]


def cases(random):
    yield [1, []]
    yield [1, [[0, 0]]]
    yield [2, [[1, 0], [1, 0]]]
    for jobs in (40, 400, 4000):
        order = random.sample(range(jobs), jobs)
        for many in (1, 2):
            rules = []
            for _ in range(many * jobs):
                a, b = sorted(random.sample(range(jobs), 2))
                rules.append([order[a], order[b]])
            yield [jobs, rules]
            yield [jobs, [*rules, [rules[-1][1], rules[-1][0]]]]
        chain = [[order[i], order[i + 1]] for i in range(jobs - 1)]
        yield [jobs, chain]
        yield [jobs, chain[::-1] + [[order[0], order[-1]]]]
        # A cycle that nothing free leads to, and one at the far end.
        yield [jobs, [[order[i], order[i + 1]] for i in range(3)] + [[order[-1], order[-2]], [order[-2], order[-1]]]]
    jobs = 30_000
    yield [jobs, [[i + 1, i] for i in range(jobs - 1)]]
    yield [jobs, [[i, i + 1] for i in range(jobs - 1)][::-1]]
    # Two jobs a day, each after both of the day before: very many ways lead to the last.
    yield [1000, [[i, j] for k in range(0, 998, 2) for i in (k, k + 1) for j in (k + 2, k + 3)]]
    yield [jobs, [sorted(random.sample(range(jobs), 2)) for _ in range(60_000)]]
