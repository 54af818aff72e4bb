"""Readers of answers against a labelled corpus of replies."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from heredity.engine.questions import Question, Verification, verify

from .replies import BY_HAND, COUNT, LabelledReply, corpus

REPLIES = corpus()


def verified(reply: LabelledReply) -> Verification:
    question = Question("What?", reply.reference, {"kind": reply.kind}, reply.choices)
    return asyncio.run(verify(question.to_spec(), reply.text))


def read_as(result: Verification) -> str:
    return "right" if result.correct else "ambiguous" if result.details.get("ambiguous") else "wrong"


@pytest.fixture(scope="module")
def results() -> list[tuple[LabelledReply, Verification]]:
    return [(reply, verified(reply)) for reply in REPLIES]


def test_the_corpus_is_the_same_each_time_and_has_every_label_of_every_kind() -> None:
    assert len(REPLIES) == COUNT
    assert corpus() == REPLIES
    counts = Counter((reply.kind, reply.label) for reply in REPLIES)
    assert {kind for kind, _ in counts} == {"numeric", "choice", "exact"}
    assert min(counts.values()) >= 30
    assert len(BY_HAND) >= 90


def test_every_reply_is_read_as_it_is_labelled(results: list[tuple[LabelledReply, Verification]]) -> None:
    wrong = [
        f"{reply.kind} {reply.reference!r}: {reply.text!r} is {reply.label}, read as {read_as(result)} ({result.reason})"
        for reply, result in results
        if read_as(result) != reply.label
    ]
    assert not wrong, "\n".join(wrong)


def test_all_letters_are_read_equally_well(results: list[tuple[LabelledReply, Verification]]) -> None:
    right = [
        (reply.reference, result.score)
        for reply, result in results
        if reply.kind == "choice" and reply.label == "right"
    ]
    means = {
        letter: sum(score for one, score in right if one == letter) / sum(one == letter for one, _ in right)
        for letter in "ABCD"
    }
    assert max(means.values()) - min(means.values()) <= 0.005, means


def test_an_ambiguous_reply_is_counted_and_named_and_scores_nothing(
    results: list[tuple[LabelledReply, Verification]],
) -> None:
    ambiguous = [result for reply, result in results if reply.label == "ambiguous"]
    assert all(result.reason.startswith("ambiguous: ") and result.score == 0.0 for result in ambiguous)
    assert sum(bool(result.details.get("ambiguous")) for _, result in results) == len(ambiguous)


@pytest.mark.parametrize("letter", "ABCDEFGHIJ")
@pytest.mark.parametrize(
    "phrasing",
    ["Answer: {a} because {b} is wrong", "{b} is wrong, so {a}", "Answer: {a}", "({a})", "It must be {a}."],
)  # fmt: skip
def test_ten_letters_are_read_alike(letter: str, phrasing: str) -> None:
    other = "A" if letter != "A" else "B"
    options = tuple(f"number {i}" for i in range(10))
    reply = LabelledReply("choice", letter, phrasing.format(a=letter, b=other), "right", phrasing, options)
    assert verified(reply).extracted == letter
