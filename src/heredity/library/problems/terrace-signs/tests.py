def small(random):
    return ["".join(random.choices("<>?", k=random.randint(0, 6)))]


def cases(random):
    yield [""]
    for sign in "<>?":
        yield [sign]
        yield [sign * 30]
    yield ["<>" * 20]
    yield ["<<<<<<?>>>>>"]
    for _ in range(14):
        yield [
            "".join(random.choices(random.choice(["<>", "<>?", "<<<>", ">>>><?", "??<"]), k=random.randint(10, 120)))
        ]
    yield ["<>" * 399 + "<"]
    yield ["?" * 799]
    yield ["<" * 400 + ">" * 399]
    yield ["".join(random.choices("<>", k=799))]
    yield ["".join(random.choices("<>?", k=799))]
    yield ["".join(random.choices("<<<>", k=799))]
