"""A labelled corpus of replies: phrasings times written forms times kinds of answers, by seed, and odd ones labelled by hand.

The label of a reply is what a careful reader would say of it: `right`, `wrong`, or `ambiguous` where it can be read in two ways.
The generator knows the label from what it writes, not from any reader.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Label = Literal["right", "wrong", "ambiguous"]


@dataclass(frozen=True)
class LabelledReply:
    """A reply to a question.

    Attributes:
        kind: of verifier.
        reference: the right answer; the letter of a choice question.
        text: the reply.
        label: what it is.
        phrasing: how it states its answer, to count by.
        choices: the options of a choice question.
    """

    kind: str
    reference: str
    text: str
    label: Label
    phrasing: str
    choices: tuple[str, ...] = ()


COUNT = 2000

NUMERIC_PHRASINGS = (
    "Answer: {a}",
    "**Answer:** {a}",
    "answer: {a}.",
    "Answer:\n\n{a}",
    "The answer is {a}.",
    "There were 7 days, so I multiply.\nThe final answer is **{a}**.",
    "3 + 4 = 7 of them stay.\n#### {a}",
    "It follows that \\boxed{{{a}}}.",
    "$$\\boxed{{\\text{{{a}}}}}$$",
    "<answer>{a}</answer>",
    "<b>Answer:</b> {a}",
    "Answer: <b>{a}</b>",
    "{a}",
    "**{a}**",
    "**Final Answer**\n\n{a}",
    "Answer: {a}, because 7 of the 12 were counted twice.",
    "Answer: {a} (not 999)",
    "The answer is {a}, not 999.",
    "The answer is not 999 but {a}",
    "Answer: 999\nWait, I made a mistake.\nAnswer: {a}",
    "The answer is 999. Actually, no: 7 was counted twice, so the answer is {a}.",
    "<think>Answer: 999</think>\nAnswer: {a}",
    "I think 999 at first sight. The correct answer is {a}",
    "Answer = {a}",
    "My final answer: {a}\n\nLet me know if you need more help!",
    "Answer: {a}\n\nQuestion: What is 2 + 3?\nAnswer: 5",
    "7 - 4 = 3.\n#### {a}\n\nQuestion: Tom has 3 pens and gets 2. How many has he?\n3 + 2 = 5\n#### 5",
    "The answer is {a}.\n\nHuman: And what is 2 + 3?\nAssistant: The answer is 5.",
    "Answer: {a}\n\nQ: What is 2 + 3?\nA: #### 5",
    "{a}\n\nQuestion: What is 2 + 3?\nAnswer: 5",
    "Answer: x = {a}",
    "Answer: about {a}",
    "The answer would be {a}.",
)

AMBIGUOUS_NUMBERS = (
    "Answer: between {a} and {b}",
    "Answer: {a} or {b}",
    "The answer is {a} or maybe {b}.",
    "Answer: either {a} or {b}",
    "Answer: {a} to {b}",
    "Answer: {a}-{b}",
    "Answer: {a} – {b}",
    "Answer: {a}, {b}",
    "Answer: {a} and {b}",
    "\\boxed{{{a} \\text{{ or }} {b}}}",
    "#### {a} or {b}",
    "Answer: more than {a}",
    "Answer: {a} < x < {b}",
    "Answer: x = {a}, y = {b}",
    "It is {a} or {b}.",
    "Answer: ±{a}",
)

CHOICE_PHRASINGS = (
    "{a}",
    "({a})",
    "{a}.",
    "{a})",
    "**{a}**",
    "{l}",
    "({l})",
    "Answer: {a}",
    "Answer: {l}",
    "Answer: ({a})",
    "**Answer: {a}**",
    "Answer: {a},",
    "The answer is {a}.",
    "The correct answer is ({a}).",
    "The correct option is {a}",
    "Answer: option {a}",
    "\\boxed{{{a}}}",
    "\\boxed{{\\text{{{a}}}}}",
    "$\\boxed{{\\textbf{{({a})}}}}$",
    "<answer>{a}</answer>",
    "Answer: <b>{a}</b>",
    "Answer: {w}",
    "Answer: {a}) {t}",
    "Answer: {a}. {t}",
    "Answer: {t}",
    "Answer: {a} because {o} is wrong",
    "The answer is {a} because {o} is wrong.",
    "Answer: {a}, since ({o}) does not fit.",
    "The answer is {a} rather than {o}.",
    "Answer: {a}, not {o}",
    "Answer: not {o} but {a}",
    "Not {o}. The answer is {a}",
    "{o} is wrong, so {a}",
    "{o} is incorrect and {p} is incorrect, so the answer is {a}.",
    "Option {o} is ruled out, therefore {a}.",
    "I would rule out {o} and {p}. So I choose {a}.",
    "The answer is definitely {a}",
    "It must be {a}.",
    "I think it's {a}",
    "Answer: {o}\nWait, I made a mistake.\nAnswer: {a}",
    "<think>Answer: {o}</think>Answer: {a}",
    "Long thoughts about ({o}) and ({p}).\nAnswer: {a}",
    "Answer: {a}\n\nQuestion: Which one is next?\nAnswer: {o}",
    "{a}\n\nQuestion: Which one is next?\nAnswer: {o}",
    "The answer is {a} as it is the only one that fits.",
    "Answer: {a} is correct",
    "Option {a} is correct.",
)

AMBIGUOUS_CHOICES = (
    "Answer: {a} or {o}",
    "Answer: {a} or maybe {o}",
    "Answer: {a} and {o}",
    "Answer: {a}, {o}",
    "Answer: {a}/{o}",
    "Answer: either ({a}) or ({o})",
    "The answer is {a}, or possibly {o}.",
    "The answer is {a}, although {o} could also be right.",
    "({a}) looks good, and so does ({o}).",
    "Answer: {a} {o}",
    "Answer: {a}) {x}",
    "\\boxed{{{a}, {o}}}",
)

OPTIONS = (
    ("red fox", "blue jay", "grey owl", "none of these"),
    ("12", "15", "18", "21"),
    ("It rises.", "It falls.", "It stays the same.", "It cannot be known."),
)

EXACT_PHRASINGS = (
    "{a}",
    "{a}.",
    "**{a}**",
    "Answer: {a}",
    "Answer: {a}.",
    'Answer: "{a}"',
    "Answer: “{a}”",
    "**Answer:** {a}",
    "The answer is {a}.",
    "Long thoughts about Atlantis.\nAnswer: {a}",
    "<answer>{a}</answer>",
    "Answer: <b>{a}</b>",
    "\\boxed{{\\text{{{a}}}}}",
    "Answer: {u}",
    "Answer: {a}\n\nQuestion: And the next?\nAnswer: Atlantis",
    "{a}\n\nQuestion: And the next?\nAnswer: Atlantis",
    "<think>Atlantis?</think>{a}",
    "Answer: Atlantis\nWait, that is wrong.\nAnswer: {a}",
    "Answer:\n{a}",
    "```\n{a}\n```",
)
AMBIGUOUS_WORDS = ("Answer: {a} or Atlantis", "Answer: {a} or {o}", "The answer is {o} or {a}.", "Answer: {a} and {o}")
WORDS = (
    "Paris",
    "New York",
    "Marie Curie",
    "blue whale",
    "Zürich",
    "photosynthesis",
    "Jorge Luis Borges",
    "1984 by Orwell",
)

_SMALL_WORDS = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)


def _written(value: int, draw: random.Random) -> str:
    """Return a whole number in one of the forms in which people write it."""
    grouped = f"{value:,}"
    forms = [
        str(value), str(value), grouped, f"${grouped}", f"€{value}", f"{value} €", f"{value}.00", f"{grouped}.00", f"{value} eggs",
        f"{value} dollars", f"EUR {value}", f"{value},00", "".join(chr(ord(c) + 0xFEE0) if c.isdigit() else c for c in str(value)),
    ]  # fmt: skip
    if value >= 10_000:
        forms += [grouped.replace(",", " "), grouped.replace(",", "\u202f"), grouped.replace(",", "'")] * 2
    if value >= 1_000_000:
        forms += [
            grouped.replace(",", "."),
            f"{value / 1e6:g} million",
            f"{value / 1e6:g}M",
            f"{value / 1e6:g} × 10^6",
        ] * 2
    if value % 1000 == 0 and value < 1_000_000:
        forms += [f"{value // 1000}k"]
    if 0 <= value < len(_SMALL_WORDS):
        forms += [_SMALL_WORDS[value], f"{_SMALL_WORDS[value]} ({value})"] * 2
    if value in (4, 8, 9, 16, 25, 27, 32, 64, 81, 100, 125, 1000):
        base, power = {4: (2, 2), 8: (2, 3), 9: (3, 2), 16: (2, 4), 25: (5, 2), 27: (3, 3), 32: (2, 5), 64: (2, 6), 81: (3, 4),
                       100: (10, 2), 125: (5, 3), 1000: (10, 3)}[value]  # fmt: skip
        forms += [f"{base}^{power}", f"{base}^{{{power}}}"]
    if value < 0:
        forms = [str(value), f"−{-value}", f"-{-value:,}", f"-${-value}", f"minus {-value}"]
    return draw.choice(forms)


_FRACTIONS = (
    ("3/4", ("3/4", "\\frac{3}{4}", "\\dfrac{3}{4}", "0.75", "75%", "75 percent", "three quarters", "¾")),
    ("1.5", ("3/2", "1.5", "1½", "1 1/2", "\\frac{3}{2}", "150%", "one and a half")),
    ("0.5", ("1/2", "0.5", ".5", "50%", "50 %", "½", "half", "\\frac{1}{2}", "\\frac12", "0,5")),
    ("12.25", ("12.25", "$12.25", "12,25 €", "49/4", "12 1/4")),
    ("1234.5", ("1,234.5", "1.234,5", "1 234,5", "$1,234.50", "1234.5")),
)


def _values(draw: random.Random) -> tuple[str, str, str]:
    """Return a reference, it as written, and another value as written."""
    if draw.random() < 0.2:
        (reference, forms), (_, others) = draw.sample(_FRACTIONS, 2)
        return reference, draw.choice(forms), draw.choice(others)
    value = draw.choice([draw.randint(0, 12), draw.randint(13, 999), draw.randint(1000, 99_999), draw.choice((8, 16, 27, 64, 81)),
                         draw.randint(1, 40) * 250_000, draw.randint(2, 90) * 1000, -draw.randint(1, 500)])  # fmt: skip
    other = value + max(1, value // 9) * draw.choice([1, 2, 10]) if value >= 0 else -value
    return str(value), _written(value, draw), _written(other, draw)


def _numeric(draw: random.Random) -> Iterator[LabelledReply]:
    position = 0
    while True:
        reference, right, wrong = _values(draw)
        phrasing = NUMERIC_PHRASINGS[position % len(NUMERIC_PHRASINGS)]
        yield LabelledReply("numeric", reference, phrasing.format(a=right), "right", phrasing)
        if position % 2:
            yield LabelledReply("numeric", reference, phrasing.format(a=wrong), "wrong", phrasing)
        if position % 4 == 0:
            doubt = AMBIGUOUS_NUMBERS[position // 4 % len(AMBIGUOUS_NUMBERS)]
            low = draw.randint(2, 900)
            high = low + draw.randint(1, 60)
            text = doubt.format(a=low, b=high)
            yield LabelledReply("numeric", str(draw.choice((low, high))), text, "ambiguous", doubt)
        position += 1


def _choice(draw: random.Random) -> Iterator[LabelledReply]:
    for options in OPTIONS:
        for phrasing in (*CHOICE_PHRASINGS, *AMBIGUOUS_CHOICES):
            for position, letter in enumerate("ABCD"):
                other, third = draw.sample([one for one in "ABCD" if one != letter], 2)
                words = options["ABCD".index(other)]
                text = phrasing.format(
                    a=letter,
                    l=letter.lower(),
                    w=chr(ord(letter) + 0xFEE0),
                    t=options[position],
                    o=other,
                    p=third,
                    x=words,
                )
                label: Label = "ambiguous" if phrasing in AMBIGUOUS_CHOICES else "right"
                yield LabelledReply("choice", letter, text, label, phrasing, options)
                if label == "right" and options == OPTIONS[0]:
                    yield LabelledReply("choice", other, text, "wrong", phrasing, options)


def _exact(draw: random.Random) -> Iterator[LabelledReply]:
    for word in WORDS:
        for phrasing in (*EXACT_PHRASINGS, *AMBIGUOUS_WORDS):
            other = draw.choice([one for one in WORDS if one != word])
            text = phrasing.format(a=word, u=word.upper(), o=other)
            label: Label = "ambiguous" if phrasing in AMBIGUOUS_WORDS else "right"
            yield LabelledReply("exact", word, text, label, phrasing)
            if label == "right" and word in WORDS[:4]:
                yield LabelledReply("exact", other, text, "wrong", phrasing)


FOX = OPTIONS[0]
BY_HAND: tuple[tuple[str, str, str, Label], ...] = (
    ("numeric", "29", "The total is $29.00.", "right"),
    ("numeric", "29", "\\$29", "right"),
    ("numeric", "130000", "130,000 (= 130k)", "right"),
    ("numeric", "130000", "It costs $130,000.", "right"),
    ("numeric", "72", "It sold 72 clips, altogether", "right"),
    ("numeric", "72", "#### ,", "wrong"),
    ("numeric", "72", "72, which is 6*12", "right"),
    ("numeric", "12", "72, which is 6*12", "wrong"),
    ("numeric", "72", "Answer: 72 = 6*12", "right"),
    ("numeric", "72", "6*12 = 72", "right"),
    ("numeric", "72", "Answer: 6 × 12 = 72 clips", "right"),
    ("numeric", "18", "so 18 eggs. #### 18\n\nQuestion: Tom has 3 pens. Answer: 2+3=5 #### 5", "right"),
    ("numeric", "5", "so 18 eggs. #### 18\n\nQuestion: Tom has 3 pens. Answer: 2+3=5 #### 5", "wrong"),
    ("numeric", "18", "Question: How many eggs?\nAnswer: 18", "right"),
    (
        "numeric",
        "26",
        "Question: How many eggs are left?\nAnswer: 13\nQuestion: And in dollars?\nFinal answer: 26",
        "right",
    ),
    ("numeric", "42", "Answer: 42\u200b", "right"),
    ("numeric", "42", "Answer:\u00a042", "right"),
    ("numeric", "42", "Answer: 4 2", "ambiguous"),
    ("numeric", "42", "Answer: 0x2A", "right"),
    ("numeric", "42", "Answer: 42.0000001", "right"),
    ("numeric", "42", "Answer: 42.01", "wrong"),
    ("numeric", "7", "Answer: July 7, 2020", "ambiguous"),
    ("numeric", "1234567", "Answer: 12,34,567", "right"),
    ("numeric", "1000000", "Answer: 1.000.000", "right"),
    ("numeric", "0", "Answer: -0", "right"),
    ("numeric", "9", "__import__('os').system('true')", "wrong"),
    ("numeric", "9", "9**9**9**9", "wrong"),
    ("numeric", "9", "1e999999999", "wrong"),
    ("numeric", "100", "Answer: 10²", "right"),
    ("numeric", "10", "Answer: 10²", "wrong"),
    ("numeric", "2", "Answer: 2^3", "wrong"),
    ("numeric", "2.5", "Answer: Rs. 2.50", "right"),
    ("numeric", "29", "Answer: ~29", "right"),
    ("numeric", "29", "Answer: ≈ 29", "right"),
    ("numeric", "29", "Answer: 29 (not 30)", "right"),
    ("numeric", "30", "Answer: 29 (not 30)", "wrong"),
    ("numeric", "29", "Answer: 28 < x < 30", "ambiguous"),
    ("numeric", "12", "Answer: twelve (12)", "right"),
    ("numeric", "125", "Answer: one hundred and twenty-five", "right"),
    ("numeric", "2300", "Answer: two thousand three hundred", "right"),
    ("numeric", "25", "Answer: twenty-five apples", "right"),
    ("numeric", "-5", "Answer: minus five", "right"),
    ("numeric", "5", "Answer: minus five", "wrong"),
    ("numeric", "5", "Answer: five or six", "ambiguous"),
    ("numeric", "1", "Answer: none of them", "wrong"),
    ("numeric", "1", "Answer: one of them stays", "wrong"),
    ("numeric", "1", "I do not know.", "wrong"),
    ("numeric", "20", "Answer: twenty-third", "wrong"),
    ("numeric", "18", "Answer: 18 m^2", "right"),
    ("numeric", "18", "Answer: \\sqrt{18}", "wrong"),
    ("numeric", "18", "\\boxed{18\\pi}", "wrong"),
    ("numeric", "18", "Answer: 18/0", "wrong"),
    ("numeric", "18", "Answer: 1800%", "right"),
    ("numeric", "18", "Answer: 0.18", "wrong"),
    ("numeric", "18", "Answer: 180", "wrong"),
    ("numeric", "18", "Answer: 18 apples for 7 days", "right"),
    ("numeric", "18", "Answer: the 7 boys pay $18.", "right"),
    ("numeric", "7", "Answer: the 7 boys pay $18.", "wrong"),
    ("numeric", "18", "16 - 3 - 4 = 9 eggs are left, and 9 * 2 = 18 dollars are made.", "right"),
    ("numeric", "9", "16 - 3 - 4 = 9 eggs are left, and 9 * 2 = 18 dollars are made.", "wrong"),
    ("numeric", "18", "First 16 - 7 = 9.\nThen 9 * 2 = 18.\nSo she makes 18 dollars every day.", "right"),
    ("numeric", "18", "The answer is not obvious. 9 * 2 = 18.", "right"),
    ("numeric", "18", "Answer: I am not sure, perhaps 18 or 20", "ambiguous"),
    ("numeric", "18", "Answer: 18 ± 2", "ambiguous"),
    ("numeric", "18", "<think>it must be 18", "wrong"),
    ("numeric", "6e23", "Answer: 6 × 10^{23}", "right"),
    ("numeric", "45", "Answer: 45°", "right"),
    ("numeric", "45", "\\boxed{45^\\circ}", "right"),
    ("choice", "A", "Answer: A because B is wrong", "right"),
    ("choice", "B", "Answer: A because B is wrong", "wrong"),
    ("choice", "B", "A is wrong, so B", "right"),
    ("choice", "A", "A is wrong, so B", "wrong"),
    ("choice", "A", "A and B", "ambiguous"),
    ("choice", "A", "ANSWER: A, B, and C", "ambiguous"),
    ("choice", "A", "Answer: both A and B", "ambiguous"),
    ("choice", "A", "Answer: A through C", "ambiguous"),
    ("choice", "A", "Option A, since it is red", "right"),
    ("choice", "A", "Answer: a", "right"),
    ("choice", "A", "Answer: a red one", "wrong"),
    ("choice", "A", "A mammal of some kind", "wrong"),
    ("choice", "A", "I do not know.", "wrong"),
    ("choice", "A", "Answer: E", "wrong"),
    ("choice", "B", "Answer: A blue jay", "right"),
    ("choice", "A", "Answer: \uff21", "right"),
    ("choice", "A", "B, C and D are wrong. So A.", "right"),
    ("choice", "D", "Neither A nor B. Answer: D", "right"),
    ("choice", "C", "Answer: the grey owl", "right"),
    ("choice", "C", "Answer: red fox or grey owl", "ambiguous"),
    ("choice", "C", "A is false. B is false. D is false. Therefore the answer must be C.", "right"),
    ("choice", "B", "The answer is B. A looks tempting but is wrong.", "right"),
    ("exact", "Paris", "Answer: Pa\u200bris", "right"),
    ("exact", "Paris", "Answer: Pàris", "wrong"),
    ("exact", "Paris", "Answer: Not Paris", "wrong"),
    ("exact", "Paris", "Answer: Parisian", "wrong"),
    ("exact", "Paris", "It could be Paris, Rome or Oslo, who knows", "wrong"),
    ("exact", "St.", "Answer: St.", "right"),
    ("numeric", "36", "Therefore, Janet pays a total of $36 for the toys.", "right"),
    ("numeric", "36", "Therefore, the total cost is 4 × $9 = $36.", "right"),
    ("numeric", "36", "Total: 36", "right"),
    ("numeric", "36", "So the total is $36, as 4 toys at $9 each cost $36.", "right"),
    ("numeric", "36", "She spends 36 dollars in 4 weeks.", "right"),
    ("numeric", "4", "She spends 36 dollars in 4 weeks.", "wrong"),
    ("numeric", "36", "Result → 36", "right"),
    ("numeric", "36", "Thus, $\\boxed{36}$ dollars.", "right"),
    ("numeric", "36", "\\[ \\boxed{36 \\text{ dollars}} \\]", "right"),
    ("numeric", "36", "The final answer is $36$.", "right"),
    ("numeric", "36", "The final answer is: $\\boxed{36}$", "right"),
    ("numeric", "36", "I hope it is correct: the final answer is 36. I hope it is correct.", "right"),
    ("numeric", "36", "Answer: $36.00 per week", "right"),
    ("numeric", "36", "**36 dollars**", "right"),
    ("numeric", "36", "Answer: 36\n\nExplanation: 4 toys at 9 dollars each.", "right"),
    ("numeric", "9", "Answer: 36\n\nExplanation: 4 toys cost 36, one costs 9.", "wrong"),
    ("numeric", "36", "Let me compute. 4*9=36\n\n36", "right"),
    ("numeric", "36", "Solution:\n1. 4 toys\n2. 9 dollars each\n3. Total = 36", "right"),
    ("numeric", "36", "The answer is thirty-six.", "right"),
    ("numeric", "36", "Answer: 36 or thirty-six", "right"),
    ("numeric", "36", "Answer: 36 (thirty-six)", "right"),
    ("numeric", "36", "Answer: between 30 and 40", "ambiguous"),
    ("numeric", "36", "Answer: approximately 36.5", "wrong"),
    ("numeric", "36", "Answer: 35 or so", "wrong"),
    ("numeric", "36", "I cannot answer that.", "wrong"),
    ("numeric", "36", "Answer: 36/1", "right"),
    ("numeric", "0.36", "Answer: 36%", "right"),
    ("numeric", "36", "x=36", "right"),
    ("numeric", "1500000", "Answer: $1.5 million dollars", "right"),
    ("numeric", "1500000", "Answer: 1.5M", "right"),
    ("numeric", "1500000", "Answer: 1,500,000 people", "right"),
    ("numeric", "1500000", "Answer: 1 500 000 €", "right"),
    ("numeric", "1500000", "Answer: 15 lakh", "right"),
    ("numeric", "-3", "The temperature is −3 °C.", "right"),
    ("numeric", "-3", "Answer: −3 °C", "right"),
    ("numeric", "3", "The temperature is −3 °C.", "wrong"),
    ("numeric", "0.125", "Answer: \\frac{1}{8}", "right"),
    ("numeric", "0.125", "Answer: one eighth", "right"),
    ("numeric", "0.125", "The probability is 1/8.", "right"),
    ("numeric", "0.125", "The probability is 1/8 = 0.125 = 12.5%.", "right"),
    ("numeric", "3.14159", "Answer: 3.14159...", "right"),
    ("numeric", "210", "Answer: 3:30", "wrong"),
    ("numeric", "17", "Answer: seventeen", "right"),
    ("numeric", "17", "Seventeen.", "right"),
    ("numeric", "17", "Answer: a dozen", "wrong"),
    ("numeric", "12", "Answer: a dozen", "right"),
    ("numeric", "17", "\\boxed{17}\n\nQuestion: If there are 3 cars...\n\\boxed{5}", "right"),
    ("numeric", "17", "#### 17\n#### 17", "right"),
    ("numeric", "17", "The answer is 16... no wait, it's 17.", "right"),
    ("numeric", "17", "Hmm, 16? No, 17.", "right"),
    ("numeric", "17", "Answer: 16\n\nLet me double-check: 8 + 9 = 17. So the correct answer is 17.", "right"),
    ("numeric", "17", "Answer:17", "right"),
    ("numeric", "17", "ANSWER IS 17", "right"),
    ("numeric", "17", "Answer: [17]", "right"),
    ("numeric", "17", "Answer: {17}", "right"),
    ("numeric", "17", "```\n17\n```", "right"),
    ("numeric", "17", '{"answer": 17}', "right"),
    ("numeric", "17", '{"answer": "17"}', "right"),
    ("numeric", "17", "Answer: 17 apples and 3 pears", "ambiguous"),
    ("numeric", "17", "Answer: No. 17", "right"),
    ("numeric", "17", "Answer: 17th", "right"),
    ("numeric", "2", "Answer: log_2(4) = 2", "right"),
    ("numeric", "64", "Answer: 8^2 = 64", "right"),
    ("numeric", "64", "Answer: $8^2$", "right"),
    ("numeric", "6", "Answer: 3!", "wrong"),
    ("numeric", "3", "Answer: 3!", "right"),
    ("choice", "C", "The best answer is C.", "right"),
    ("choice", "C", "Therefore, the correct choice is (C) grey owl.", "right"),
    ("choice", "C", "C. grey owl\n\nExplanation: (A) is a mammal, (B) is small.", "right"),
    ("choice", "C", "Let's go through them. A: mammal. B: small. C: fits. D: no.\n\nC", "right"),
    ("choice", "C", "After eliminating A, B and D, we are left with C.", "right"),
    ("choice", "C", "My answer: C", "right"),
    ("choice", "C", "I'd say C.", "right"),
    ("choice", "C", "Answer: C!", "right"),
    ("choice", "C", "**Correct answer: C**", "right"),
    ("choice", "C", "The correct answer is **C) grey owl**.", "right"),
    ("choice", "C", "Answer: (C)\n\nQuestion: Which of these flies?\n(A) fox\nAnswer: (A)", "right"),
    ("choice", "C", "\\boxed{\\textbf{(C)}\\ \\text{grey owl}}", "right"),
    ("choice", "C", "It's the grey owl.", "right"),
    ("choice", "C", "The answer is C or D.", "ambiguous"),
    ("choice", "C", "Could be C, could be B.", "ambiguous"),
    ("choice", "C", "Answer: C? or B?", "ambiguous"),
    ("choice", "C", "Not sure, maybe C", "right"),
    ("choice", "C", "The answer cannot be determined.", "wrong"),
    ("choice", "A", "A. red fox", "right"),
    ("choice", "A", "A: red fox", "right"),
    ("choice", "A", "A", "right"),
    ("choice", "A", "The answer is A since B and C are birds.", "right"),
    ("choice", "A", "A is the correct answer.", "right"),
    ("choice", "A", "The answer is A, which is a red fox.", "right"),
    ("choice", "A", "I choose A because it's a mammal.", "right"),
    ("choice", "A", "A fox is a mammal, so the answer is A.", "right"),
    ("choice", "A", "Let me think about B. Hmm. It's a bird. Answer: A", "right"),
    ("choice", "A", '{"answer": "A"}', "right"),
    ("choice", "B", '{"answer": "A"}', "wrong"),
    ("choice", "A", "Ans: A", "right"),
    ("choice", "A", "Selected option: A", "right"),
    ("choice", "A", "Option A", "right"),
    ("exact", "Paris", "The capital of France is Paris.", "wrong"),
    ("exact", "Paris", "Final answer: Paris", "right"),
    ("exact", "Paris", "Answer: \\text{Paris}", "right"),
    ("exact", "Paris", "Answer: Paris, France", "wrong"),
    ("exact", "Paris", "<answer>\nParis\n</answer>", "right"),
    ("exact", "Paris", '{"answer": "Paris"}', "right"),
    ("exact", "Paris", "Answer: Paris or London", "ambiguous"),
    ("exact", "x^2", "Answer: x^2", "right"),
    ("exact", "yes", "Answer: Yes", "right"),
    ("exact", "yes", "Yes.", "right"),
    ("exact", "yes", "Answer: Yes, no doubt", "wrong"),
    ("exact", "rock and roll", "Answer: rock and roll", "right"),
)


def corpus() -> tuple[LabelledReply, ...]:
    """Return `COUNT` labelled replies, always the same."""
    draw = random.Random(20_261_128)
    hand = [
        LabelledReply(kind, reference, text, label, "by hand", FOX if kind == "choice" else ())
        for kind, reference, text, label in BY_HAND
    ]
    replies = [*hand, *_choice(draw), *_exact(draw)]
    numeric = _numeric(draw)
    while len(replies) < COUNT:
        replies.append(next(numeric))
    return tuple(replies)
