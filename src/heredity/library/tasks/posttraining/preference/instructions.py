"""Stand-in instructions, each with checks for a rule and a reference answer to compare with.

An instruction combines one of 22 subjects and one of 11 forms with a name and a number that the answer must mention:
too many to list, so a suite's secret draws new ones. They replace AlpacaEval's 805, which cannot be shipped. A
reference is good in about half of the cases; in the others it misses the form or the subject, so an answer can win.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any

from heredity._core.errors import ConfigError
from heredity._core.ids import generator

Facts = Sequence[str]
Check = Callable[[str], bool]

NAMES = (
    *("Ada", "Anton", "Bela", "Berta", "Carla", "Cyril", "Dana", "Dimitri", "Edith", "Emil", "Fatima", "Felix"),
    *("Gerda", "Gustav", "Hanna", "Hugo", "Ida", "Igor", "Jana", "Jonas", "Karim", "Klara", "Lars", "Lydia"),
    *("Malik", "Mira", "Nadia", "Nils", "Olga", "Oskar", "Paula", "Pavel", "Quentin", "Rita", "Ruben", "Sara"),
    *("Stefan", "Tamara", "Theo", "Ulla", "Uwe", "Vera", "Viktor", "Wanda", "Willem", "Xenia", "Yusuf", "Zora"),
)  # fmt: skip
NUMBERS = range(100, 1000)

_MENTION = " Mention {name} and the number {number}."
_VAGUE = "There is much to say about this, and many people have said it before."


@dataclass(frozen=True, slots=True)
class Form:
    """Form of an answer.

    Attributes:
        ask: the instruction, with `{topic}`.
        checks: checks that an answer in this form passes.
        good: turns facts into an answer that passes all.
        bad: turns facts into one that does not.
    """

    ask: str
    checks: tuple[Check, ...]
    good: Callable[[Facts], str]
    bad: Callable[[Facts], str]


@dataclass(frozen=True, slots=True)
class StandIn:
    """An instruction.

    Attributes:
        text: the instruction.
        form: the name of its form; `topic` its subject; `name` and `number` must occur in an answer.
        good: an answer that follows it; `bad` one that does not.
        reference: the reference answer, one of the two.
    """

    text: str
    form: str
    topic: str
    name: str
    number: int
    good: str
    bad: str
    reference: str


def lines_of(text: str) -> list[str]:
    """Return the lines of a text that are not blank."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def _sentences(text: str) -> int:
    return len(re.findall(r"[.!?]+(?=\s|$)", text.strip()))


def _lines(count: int, begin: str) -> tuple[Check, Check]:
    return (
        lambda text: len(lines_of(text)) == count,
        lambda text: all(re.match(begin, line) for line in lines_of(text)),
    )


def _at_most(count: int) -> Check:
    return lambda text: 0 < len(text.split()) <= count


def _joined(facts: Facts) -> str:
    return " ".join(facts)


FORMS: Mapping[str, Form] = {
    "dashes": Form(
        "List three things worth knowing about {topic}, one on each line, every line beginning with a dash.",
        _lines(3, r"- "),
        lambda f: "\n".join(f"- {fact}" for fact in f[:3]),
        lambda f: _joined(f[:3]),
    ),
    "sentence": Form(
        "What matters most in {topic}? Answer in one sentence of at most twenty words.",
        (lambda text: _sentences(text) == 1, _at_most(20)),
        lambda f: f[0],
        lambda f: f"{_joined(f)} {_VAGUE}",
    ),
    "two": Form(
        "Tell a child about {topic} in exactly two sentences.",
        (lambda text: _sentences(text) == 2, _at_most(40)),
        lambda f: _joined(f[:2]),
        _joined,
    ),
    "question": Form(
        "Write a short note about {topic} that ends with a question.",
        (lambda text: text.strip().endswith("?"), _at_most(60)),
        lambda f: f"{_joined(f[:2])} Have you tried it?",
        lambda f: _joined(f[:2]),
    ),
    "title": Form(
        "Give a title for a talk about {topic}: at most twenty words, no full stop at the end.",
        (_at_most(20), lambda text: not text.strip().endswith("."), lambda text: len(lines_of(text)) == 1),
        lambda f: f[0].rstrip("."),
        lambda f: f"Here is a title for your talk:\n{_joined(f[:2])}",
    ),
    "short": Form(
        "Sum up {topic}. Begin with the words “In short,” and use at most forty words.",
        (lambda text: text.strip().lower().startswith("in short,"), _at_most(40)),
        lambda f: f"In short, {f[0]} {f[1]}",
        lambda f: f"{_joined(f)} {_VAGUE}",
    ),
    "letter": Form(
        "Write a friend a few lines about {topic}. Begin with “Dear friend” and close with “Best wishes”.",
        (
            lambda text: text.strip().startswith("Dear friend"),
            lambda text: bool(re.search(r"Best wishes\W*$", text)),
            lambda text: 3 <= len(lines_of(text)) <= 6,
        ),
        lambda f: f"Dear friend,\n{f[0]}\n{f[1]}\nBest wishes",
        lambda f: f"Dear friend, {_joined(f[:2])}",
    ),
    "numbered": Form(
        "Give four points on {topic} as a numbered list, the lines beginning with 1. to 4.",
        _lines(4, r"[1-4]\. "),
        lambda f: "\n".join(f"{i}. {fact}" for i, fact in enumerate(f[:4], 1)),
        _joined,
    ),
    "commas": Form(
        "Describe {topic} in two or three sentences without using a comma.",
        (lambda text: "," not in text, lambda text: _sentences(text) in (2, 3)),
        lambda f: _joined(f[:2]).replace(",", " and"),
        lambda f: f"First of all, {_joined(f)} And so on, and so on.",
    ),
    "capitals": Form(
        "Write one piece of advice on {topic} in capital letters only.",
        (lambda text: text.upper() == text and text.lower() != text, _at_most(25)),
        lambda f: f[0].upper(),
        lambda f: f[0],
    ),
    "dialogue": Form(
        "Write a question about {topic} and its answer: one line beginning with “Q:” and one beginning with “A:”.",
        (
            lambda text: [line[:2] for line in lines_of(text)] == ["Q:", "A:"],
            lambda text: "?" in text,
        ),
        lambda f: f"Q: What should one know?\nA: {_joined(f[:2])}",
        lambda f: f"A question would be what one should know. {f[0]}",
    ),
}
"""Name to form."""


@cache
def topics() -> Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return each subject with its facts and the lower-case words that show knowledge of it."""
    read = tomllib.loads(
        (files("heredity.library.tasks.posttraining.preference") / "topics.toml").read_text(encoding="utf-8")
    )
    return {
        topic: (
            tuple(fact.replace("*", "") for fact in facts),
            tuple(word.lower() for fact in facts for word in re.findall(r"\*(.+?)\*", fact)),
        )
        for topic, facts in read.items()
    }


def count_instructions() -> int:
    """Return the total number of instructions."""
    return len(topics()) * len(FORMS) * len(NAMES) * len(NUMBERS)


@cache
def instructions(entropy: int) -> tuple[StandIn, ...]:
    """Return an instruction for each subject and form, 242 in total, in random order.

    Args:
        entropy: source of name, number, order and reference.
    """
    draws = generator(entropy, "posttraining", "preference", "instructions")
    made: list[StandIn] = []
    for topic, (plain, _) in topics().items():
        for name, form in FORMS.items():
            who, number = NAMES[int(draws.integers(len(NAMES)))], NUMBERS[int(draws.integers(len(NUMBERS)))]
            facts = (f"{who} has note {number} on it: {plain[0][0].lower()}{plain[0][1:]}", *plain[1:])
            good, bad = form.good(facts), form.bad(facts)
            reference = (good, bad, form.good([_VAGUE] * len(facts)), good)[int(draws.integers(4))]
            asked = form.ask.format(topic=topic) + _MENTION.format(name=who, number=number)
            made.append(StandIn(asked, name, topic, who, number, good, bad, reference))
    return tuple(made[i] for i in draws.permutation(len(made)))


def rule(spec: Mapping[str, Any], answer: str) -> float:
    """Return the quality of an answer to the instruction of a task's spec, the `rule` of the taskset.

    Raises:
        ConfigError: if the instruction is not one of the stand-ins.
    """
    if "form" not in spec:
        raise ConfigError("the rule judges stand-in instructions alone; for other ones set a judge that is a model")
    return quality(spec["form"], spec["topic"], spec["name"], spec["number"], answer)


def quality(form: str, topic: str, name: str, number: int, answer: str) -> float:
    """Return the degree to which an answer follows a stand-in instruction (0 to 1).

    The form counts 0.5, the subject 0.2, the name and the number 0.1 each, absence of repetition 0.1. This is a rule,
    not a judgement: it checks words and shapes, and can be gamed.
    """
    if not answer.strip():
        return 0.0
    words = re.findall(r"[a-z]+|[0-9]+", answer.lower())
    checks = FORMS[form].checks
    shape = sum(check(answer) for check in checks) / len(checks)
    subject = float(any(word in words for word in topics()[topic][1]))
    mentioned = (name.lower() in words) + (str(number) in words)
    pairs = list(pairwise(words))
    fresh = len(set(pairs)) / len(pairs) if pairs else 1.0
    return 0.5 * shape + 0.2 * subject + 0.1 * mentioned + 0.1 * fresh
