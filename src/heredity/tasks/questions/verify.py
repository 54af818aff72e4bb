"""Checking answers against their reference. What an answer says is compared, never evaluated.

| kind | what is read out of the answer | options |
|---|---|---|
| `numeric` | a number; right within `max(absolute, relative × reference)` | `relative` (1e-6), `absolute` (0) |
| `integer` | a whole number | `minimum`, `maximum` (none) |
| `choice` | the letter of an option, or its words | |
| `exact` | the words where answers stand, else the whole text | `ignore` (`["case", "whitespace"]`; also `"punctuation"`) |
| `gaia` | the words where answers stand, else the last line; compared by the benchmark's rule | |
| `judge` | the whole text, for a model that knows the reference | `rubric` (ours), `pass_at` (0.5) |
| `reasoning-gym` | `<answer>…</answer>`, for the scorer of the package | `dataset`, `config`, `seed` |
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any

from heredity.errors import ConfigError
from heredity.gateway import Model
from heredity.tasks.questions.choice import read_choice
from heredity.tasks.questions.contract import Question, Verification
from heredity.tasks.questions.extract import (
    AMBIGUOUS,
    ambiguous,
    bare,
    final_text,
    first_turn,
    marked_answers,
    unfenced,
)
from heredity.tasks.questions.gaia_rule import matches
from heredity.tasks.questions.judge import DEFAULT_RUBRIC, grade
from heredity.tasks.questions.numbers import Number, grouped, numbers, read_number

VERSION = 2
"""Grows whenever an answer may be scored otherwise than before; part of every taskset's version."""

_SHOWN = 2000
_IGNORABLE = ("case", "whitespace", "punctuation")


async def verify(spec: Mapping[str, Any], text: str, *, judge: Model | None = None, seed: int = 0) -> Verification:
    """Check an answer.

    Args:
        spec: the task's spec, as `Question.to_spec` gives it.
        text: all that the solver said at the end; may be empty or of any length.
        judge: the model that judges, for questions that need one.
        seed: from which a judge's prompt draws its fences.

    Returns:
        The score, 0 to 1, higher is better. An answer that cannot be read is wrong, with the reason.

    Raises:
        ConfigError: if the spec is no question, or needs a judge and there is none.
        ProviderError: if the judge gives no verdict; that is nobody's zero.
        HostError: if a scorer of reasoning-gym fails by itself.
        MissingExtraError: if reasoning-gym is needed and not installed.
    """
    question = Question.from_spec(spec)
    kind = question.verifier["kind"]
    answer = final_text(text) if kind == "judge" else first_turn(final_text(text))
    if not answer:
        return Verification(0.0, False, "", "the answer is empty")
    if kind == "judge":
        return await _judged(question, answer, judge, seed)
    if kind == "reasoning-gym":
        from heredity.tasks.questions.reasoning import score

        return await asyncio.to_thread(score, question, _whole(answer))
    check = {"numeric": _numeric, "integer": _integer, "choice": _choice, "exact": _exact, "gaia": _gaia}[kind]
    return check(question, answer)


def reference_number(question: Question) -> Number:
    """Return the reference answer of a numeric question as a number.

    Raises:
        ConfigError: if it is none.
    """
    answer = grouped(question.answer.strip())
    parsed = numbers(answer)
    if len(parsed) != 1 or parsed[0].value is None or parsed[0].written != answer:
        raise ConfigError(f"the reference answer {question.answer!r} is no single number; use the exact verifier")
    return parsed[0]


def normalised(text: str, ignore: tuple[str, ...]) -> str:
    """Return a text without the differences to ignore: `"case"`, `"whitespace"`, `"punctuation"`.

    Raises:
        ConfigError: if another is named.
    """
    unknown = set(ignore) - set(_IGNORABLE)
    if unknown:
        raise ConfigError(f"ignore names {', '.join(sorted(unknown))}; expected some of {', '.join(_IGNORABLE)}")
    if "case" in ignore:
        text = text.casefold()
    if "punctuation" in ignore:
        text = re.sub(r"[^\w\s]|_", " ", text)
    return " ".join(text.split()) if "whitespace" in ignore else text.strip()


def _numeric(question: Question, answer: str) -> Verification:
    options = question.verifier
    reference = reference_number(question)
    number, problem = read_number(answer)
    if number is None:
        return _wrong("", problem)
    same = number.equals(reference, options.get("relative", 1e-6), options.get("absolute", 0.0))
    return _compared(number.written, same, question.answer)


def _integer(question: Question, answer: str) -> Verification:
    number, problem = read_number(answer)
    if number is None:
        return _wrong("", problem)
    if number.value is None or number.value.denominator != 1 or number.percent:
        return _wrong(number.written, f"{number.written[:80]} is no whole number")
    low, high = question.verifier.get("minimum"), question.verifier.get("maximum")
    if (low is not None and number.value < low) or (high is not None and number.value > high):
        return _wrong(number.written, f"{number.written[:80]} is not from {low} to {high}")
    return _compared(number.written, number.value == reference_number(question).value, question.answer)


def _choice(question: Question, answer: str) -> Verification:
    letter, problem = read_choice(answer, question.choices)
    return _compared(letter, letter == question.answer, question.answer) if letter else _wrong("", problem)


def _exact(question: Question, answer: str) -> Verification:
    ignore = tuple(question.verifier.get("ignore", ("case", "whitespace")))
    wanted = normalised(question.answer, ignore)
    several_lines = "\n" in question.answer.strip()
    stated = marked_answers(answer, to_the_end=several_lines)
    extracted = stated[0] if stated else unfenced(answer)
    forms = [_undressed(one, wanted) for one in (extracted, bare(extracted))]
    same = any(normalised(form, ignore) == wanted for form in forms)
    if not same and wanted in [normalised(part, ignore) for part in re.split(r"\s+(?:or|and)\s+|\s*/\s*", forms[-1])]:
        return _wrong(extracted, ambiguous(extracted, "names the reference beside something else"))
    return _compared(forms[0], same, question.answer)


def _undressed(text: str, wanted: str) -> str:
    """Return a text without the full stop at its end and the quotes around it, unless the reference has them."""
    text = text.strip(" \t\n*_`")
    if not wanted.endswith("."):
        text = text.removesuffix(".")
    quotes = {'"': '"', "'": "'", "\u201c": "\u201d", "\u2018": "\u2019", "\u00ab": "\u00bb"}
    quoted = len(text) > 1 and quotes.get(text[0]) == text[-1] and not wanted.startswith(text[0])
    return text[1:-1].removesuffix("." if not wanted.endswith(".") else "") if quoted else text


def _gaia(question: Question, answer: str) -> Verification:
    stated = marked_answers(answer)
    extracted = stated[0] if stated else unfenced(answer).rpartition("\n")[2].strip()
    return _compared(extracted, matches(extracted, question.answer), question.answer)


async def _judged(question: Question, answer: str, judge: Model | None, seed: int) -> Verification:
    if judge is None:
        raise ConfigError("this question is checked by a model; name one as the judge")
    options = question.verifier
    rubric = options.get("rubric") or DEFAULT_RUBRIC
    verdict = await grade(judge, question.text, answer, reference=question.answer, rubric=rubric, seed=seed)
    correct = verdict.score >= options.get("pass_at", 0.5)
    return Verification(verdict.score, correct, answer[:_SHOWN], verdict.reason, verdict.usage)


def _whole(answer: str) -> str:
    """Return the answer where it may have many lines, such as a grid."""
    stated = marked_answers(answer, to_the_end=True)
    return unfenced(stated[0] if stated else answer)


def _compared(extracted: str, same: bool, reference: str) -> Verification:
    if same:
        return Verification(1.0, True, extracted[:_SHOWN], "matches the reference")
    return _wrong(extracted, f"{extracted[:80]!r} is not the reference {reference[:80]!r}")


def _wrong(extracted: str, reason: str) -> Verification:
    details = {"ambiguous": True} if reason.startswith(AMBIGUOUS) else {}
    return Verification(0.0, False, extracted[:_SHOWN], reason, details=details)
