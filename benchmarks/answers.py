"""Errors of readers of answers on the labelled corpus of the tests: ours, and those of packages that are installed beside it.

A reader scores a reply as right or not. "missed" are right replies that it scores 0, "accepted" wrong or ambiguous ones that it
scores 1, "letters" is the spread of its accuracy over the letters A to D, in points. Other packages are used as their own
benchmarks use them: math-verify by `parse` and `verify`; lm-evaluation-harness by its filters of GSM8K (strict, flexible) and for
choices; inspect_ai by `match` (numbers and words at the end) and its pattern for "ANSWER: ". Some minutes, without a model.

    pip install math-verify lm-eval inspect_ai
    python benchmarks/answers.py [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import re
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from heredity.engine.questions import Question, verify

_CORPUS = Path(__file__).parents[1] / "tests" / "tasks" / "questions" / "replies.py"
_NUMBER = ("numeric",)
_ALL = ("numeric", "choice", "exact")

Reader = Callable[[Any], bool]


def corpus() -> tuple[Any, ...]:
    """Return the labelled replies of the tests."""
    spec = importlib.util.spec_from_file_location("replies", _CORPUS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["replies"] = module
    spec.loader.exec_module(module)
    return module.corpus()


def ours(reply: Any) -> bool:
    """Score a reply by our verifiers."""
    question = Question("What?", reply.reference, {"kind": reply.kind}, reply.choices)
    return asyncio.run(verify(question.to_spec(), reply.text)).correct


def readers() -> Iterator[tuple[str, str, tuple[str, ...], Reader]]:
    """Yield the readers of this environment: name, version, kinds of answers, and what scores a reply."""
    yield "heredity", _version("heredity"), _ALL, ours
    for package, made in (("lm_eval", _lm_eval), ("inspect_ai", _inspect), ("math-verify", _math_verify)):
        if _version(package):
            for name, kinds, reader in made():
                yield name, _version(package), kinds, reader


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "source" if package == "heredity" else ""


def _math_verify() -> Iterator[tuple[str, tuple[str, ...], Reader]]:
    from math_verify import (  # pyright: ignore[reportMissingImports]
        ExprExtractionConfig,
        LatexExtractionConfig,
        StringExtractionConfig,
        parse,
        verify,
    )

    def numeric(reply: Any) -> bool:
        configs = [LatexExtractionConfig(), ExprExtractionConfig()]
        return verify(
            parse(reply.reference),
            parse(reply.text, configs),
        )

    def choice(reply: Any) -> bool:
        configs = [StringExtractionConfig(strings=("A", "B", "C", "D"))]
        gold = parse(reply.reference, configs)
        return verify(gold, parse(reply.text, configs))

    yield "math-verify", ("numeric", "choice"), lambda reply: (choice if reply.kind == "choice" else numeric)(reply)


def _lm_eval() -> Iterator[tuple[str, tuple[str, ...], Reader]]:
    from lm_eval.filters.extraction import MultiChoiceRegexFilter, RegexFilter  # pyright: ignore[reportMissingImports]

    def matched(extracted: str, reference: str) -> bool:
        """As the metric exact_match of GSM8K."""
        ignored = (",", "\\$", "(?s).*#### ", "\\.$")
        for pattern in ignored:
            extracted, reference = re.sub(pattern, "", extracted), re.sub(pattern, "", reference)
        return extracted.casefold() == reference.casefold()

    def filtered(made: Any) -> Reader:
        return lambda reply: matched(
            made.apply([[reply.text]], [{"choices": list(reply.choices)}])[0][0], reply.reference
        )

    yield "lm-eval strict", _NUMBER, filtered(RegexFilter("#### (\\-?[0-9\\.\\,]+)"))
    yield "lm-eval flexible", _NUMBER, filtered(RegexFilter("(-?[$0-9.,]{2,})|(-?[0-9]+)", group_select=-1))
    many = MultiChoiceRegexFilter(r"(\([A-Z]\))", 0, ignore_case=True, ignore_punctuation=True)
    # All at once: each call makes a table of all of Unicode.
    replies = [reply for reply in corpus() if reply.kind == "choice"]
    extracted = many.apply([[reply.text] for reply in replies], [{"choices": list(reply.choices)} for reply in replies])
    letters = {(one.text, one.choices): letter.strip("()") for one, (letter,) in zip(replies, extracted, strict=True)}
    yield "lm-eval multi-choice", ("choice",), lambda reply: bool(letters[reply.text, reply.choices] == reply.reference)


def _inspect() -> Iterator[tuple[str, tuple[str, ...], Reader]]:
    from inspect_ai._util.pattern import ANSWER_PATTERN_LETTER, ANSWER_PATTERN_LINE  # pyright: ignore[reportMissingImports]
    from inspect_ai.scorer._common import match_str  # pyright: ignore[reportMissingImports]

    def match(reply: Any) -> bool:
        return match_str(reply.text, reply.reference, "end", numeric=reply.kind == "numeric")[1]

    def answer(reply: Any) -> bool:
        pattern = ANSWER_PATTERN_LETTER if reply.kind == "choice" else ANSWER_PATTERN_LINE
        found = re.search(pattern, reply.text, re.IGNORECASE)
        return found is not None and match_str(found[1], reply.reference, "exact", numeric=reply.kind == "numeric")[1]

    yield "inspect match", ("numeric", "exact"), match
    yield "inspect answer", _ALL, answer


def scored(reader: Reader, reply: Any) -> bool:
    """Score a reply; a reader that fails on one scores it 0."""
    try:
        return bool(reader(reply))
    except Exception:  # noqa: BLE001 - whatever another package raises
        return False


def measured(name: str, kind: str, reader: Reader, replies: list[Any]) -> dict[str, Any]:
    """Return the errors of a reader on replies of a kind."""
    marks = [(reply, scored(reader, reply)) for reply in replies]
    missed = sum(reply.label == "right" and not mark for reply, mark in marks)
    accepted = sum(reply.label != "right" and mark for reply, mark in marks)
    right = [(reply.reference, mark) for reply, mark in marks if reply.label == "right" and reply.phrasing != "by hand"]
    shares = [[mark for one, mark in right if one == letter] for letter in "ABCD"]
    means = [100 * sum(marks) / len(marks) for marks in shares if marks]
    letters = round(max(means) - min(means), 1) if kind == "choice" else None
    return {
        "reader": name,
        "kind": kind,
        "replies": len(replies),
        "missed": missed,
        "accepted": accepted,
        "errors": missed + accepted,
        "letters": letters,
    }


def main() -> None:
    """Print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON")
    as_json = parser.parse_args().json
    replies = corpus()
    rows: list[dict[str, Any]] = []
    columns = ("reader", "version", "kind", "replies", "missed", "accepted", "errors", "letters")
    widths = (22, 10, 9, 8, 8, 10, 8, 9)
    if not as_json:
        print("".join(f"{column:{width}}" for column, width in zip(columns, widths, strict=True)), flush=True)
    for name, number, kinds, reader in readers():
        for kind in kinds:
            row = {
                "version": number,
                **measured(name, kind, reader, [reply for reply in replies if reply.kind == kind]),
            }
            rows.append(row)
            cells = ("" if row[column] is None else str(row[column]) for column in columns)
            if not as_json:
                print("".join(f"{cell:{width}}" for cell, width in zip(cells, widths, strict=True)), flush=True)
    if as_json:
        print(json.dumps({"replies": len(replies), "readers": rows}, indent=2))


if __name__ == "__main__":
    main()
