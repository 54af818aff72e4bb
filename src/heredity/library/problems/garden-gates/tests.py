PAIRS = ["()", "[]", "{}", "**"]


def good(random, count):
    """A walk that is well, of count gates."""
    out, stack = [], []
    while count or stack:
        if count and (not stack or random.random() < 0.5):
            pair = random.choice(PAIRS)
            if pair == "**" and stack and stack[-1] == "*":
                continue
            count -= 1
            out.append(pair[0])
            stack.append(pair[1])
        else:
            out.append(stack.pop())
    return "".join(out)


def small(random):
    if random.random() < 0.4:
        return ["".join(random.choice("()[]{}*") for _ in range(random.randint(0, 8)))]
    walk = list(good(random, random.randint(0, 6)))
    if walk and random.random() < 0.6:
        walk[random.randrange(len(walk))] = random.choice("()[]{}*")
    return ["".join(walk)]


def cases(random):
    for walk in ("", "*", "**", "***", "(*)*", "*()*", ")", "([]", "(]", "*)", "(()", "())("):
        yield [walk]
    for number in range(9):
        walk = list(good(random, random.randint(100, 1000)))
        if number % 3 == 1:
            walk[random.randrange(len(walk))] = random.choice("()[]{}*")
        elif number % 3 == 2:
            walk.append(random.choice("(}*"))
        yield ["".join(walk)]
    half = 50_000
    yield ["(" * half + ")" * half]
    yield ["*(" * (half // 2) + ")*" * (half // 2)]
    yield ["[" * half + "]" * (half - 1) + "}"]
    yield ["{" * (2 * half)]
    yield [good(random, half)]
    yield ["()" * half]
