def song(random, letters, length):
    return "".join(random.choice(letters) for _ in range(length))


def mixed(random, text, changes, letters):
    notes = list(text)
    for _ in range(changes):
        place = random.randrange(len(notes))
        if random.random() < 0.5:
            notes[place] = random.choice(letters)
        elif random.random() < 0.5 and len(notes) > 1:
            del notes[place]
        elif len(notes) < 400:
            notes.insert(place, random.choice(letters))
    return "".join(notes)


def small(random):
    letters = random.choice(["a", "ab", "abc", "abcdef"])
    return [song(random, letters, random.randint(1, 7)), song(random, letters, random.randint(1, 7))]


def cases(random):
    yield ["a", "a"]
    yield ["abab", "baba"]
    yield ["aabaab", "abaaba"]
    yield ["abcde", "xaxbcxdxe"]
    yield ["xaybzcxaybzc", "abcxyzabc"]
    for length in (14, 25, 60, 90):
        for letters in ("ab", "abcd", "abcdefghijklmnopqrstuvwxyz"):
            yield [song(random, letters, length), song(random, letters, length)]
            text = song(random, letters, length)
            yield [text, mixed(random, text, length // 4, letters)]
    yield [song(random, "ab", 400), song(random, "ab", 400)]
    yield [song(random, "abcdefgh", 400), song(random, "abcdefgh", 400)]
    yield ["a" * 400, "a" * 399]
    text = song(random, "abcd", 390)
    yield [text, mixed(random, text, 60, "abcd")]
