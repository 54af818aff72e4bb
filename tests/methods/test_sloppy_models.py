"""Every optimizer with models that write sloppily, say nothing of use, or attack: nothing corrupted is committed."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from tests.methods.sums import (
    SYSTEM,
    TRAIN,
    Played,
    SumsSession,
    agent,
    all_texts,
    context,
    proposing,
    right_if_taught,
    teaching,
)

from heredity._core.spans import watching
from heredity.analysis.usage import unusable_replies
from heredity.methods.operators.dialogue import Steps
from heredity.methods.registry import method
from heredity.models import Reply, Request

GOOD = 'Carry: \\boxed{x} where $a \\ne b$,\n$\\nu \\to \\tan\\theta$, \\frac{1}{2}.\n"Quoted" and it\'s {braced}.'
LINE = " ".join(GOOD.split())
LOOPS = [
    "reflection",
    "textgrad",
    "reinforce-pp",
    "grpo",
    "best-of-n-edits",
    "sequential-edits",
    "adaptive",
    "select-optimise-evaluate",
]
UPDATES = ["ace", "tf-grpo", "refine", "ahe"]
OPTIMIZERS = [*LOOPS, *UPDATES, "gepa"]
OWN: Mapping[str, Mapping[str, Any]] = {
    "tf-grpo": {"repeats": 2, "compare": "unsolved"},
    "best-of-n-edits": {"rounds": 1, "candidates": 2},
    "gepa": {"batch": 3, "pareto": 6, "metric_calls": 40, "proposer": "improve"},
}
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class Noted(Played):
    """A model that keeps the events of its calls, as a session does; `cut` ends each reply at the token limit."""

    def __init__(self, play: Callable[[dict[str, Any]], Any], finish: Any = "stop") -> None:
        super().__init__(play)
        self.events: list[dict[str, Any]] = [{"kind": "candidate", "data": {"digest": "first"}}]
        self.finish = finish

    async def reply(self, request: Request) -> Reply:
        reply = await super().reply(request)
        self.events.append({"kind": "model.called", "data": {"error": None, "model": "played/m"}})
        return Reply(reply.text, finish=self.finish)

    async def unused(self, request: Request, why: str) -> None:
        self.events.append({"kind": "reply.unused", "data": {"why": why}})


def run(name: str, model: Noted) -> tuple[SumsSession, Steps]:
    session, steps = SumsSession(right_if_taught, episodes=2000), Steps()
    options = {
        "batch": 4 if name in UPDATES else TRAIN,
        **({} if name == "gepa" else {"rounds": 2}),
        **OWN.get(name, {}),
    }
    given = context(agent(), model, **options)
    with watching(steps):
        asyncio.run(method(name, given.options).evolve(session, given))
    return session, steps


def meant(block: dict[str, Any]) -> dict[str, Any]:
    """What a good model means to say to each request."""
    if block["task"] in ("dynamics", "instruction"):
        return {"signal": "it does not carry"}
    if block["task"] in ("lessons", "summarise", "curate", "compare", "consolidate", "improve", "engineer"):
        return json.loads(json.dumps(teaching(block)).replace("Remember to carry", json.dumps(GOOD)[1:-1]))
    return proposing(lambda b: {next(iter([*b["variables"], *b["limits"]["new_variables"]])): GOOD})._play(block)


def beside(block: dict[str, Any]) -> str:
    """Write long texts beside the object, numbered, and the object with comments and trailing commas."""
    value, texts = meant(block), list[str]()
    for edit in value.get("edits", ()):
        texts.append(edit["value"])
        edit["value"] = f"<text {len(texts)}>"
    written = json.dumps(value, indent=1).replace("\n}", ",\n}").replace("{\n", "{ // as asked\n", 1)
    return "\n".join([written, *(f"<text {n}>\n{text}\n</text {n}>" for n, text in enumerate(texts, 1))])


def unescaped(block: dict[str, Any]) -> str:
    """Write backslashes and line breaks as they are, which is no JSON."""
    return json.dumps(meant(block)).replace("\\\\", "\0").replace("\\n", "\n").replace("\0", "\\")


def python(block: dict[str, Any]) -> str:
    return f"<think>perhaps {{'edits': []}}</think>Here:\n```python\n{meant(block)!r}\n```\nGood luck!"


def wrapped(block: dict[str, Any]) -> str:
    return json.dumps({"reply": json.dumps(meant(block))})


SLOPPY = {"beside": beside, "unescaped": unescaped, "python": python, "wrapped": wrapped}


@pytest.mark.parametrize("form", SLOPPY)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_what_a_sloppy_model_means_arrives_byte_for_byte(name: str, form: str) -> None:
    pytest.importorskip("gepa") if name == "gepa" else None
    session, steps = run(name, Noted(SLOPPY[form]))
    # The adaptive method also changes programs, and this text is none.
    assert steps.asked > steps.failed, steps.reason
    assert not steps.failed or name == "adaptive", steps.reason
    texts = [all_texts(trial.candidate) for _, trial in session.trials]
    written = [text for text in texts if "boxed" in text]
    assert written
    for text in written:
        assert not CONTROL.search(text)
        assert any(
            whole in text for whole in (GOOD, json.dumps(LINE)[1:-1], json.dumps(LINE, ensure_ascii=False)[1:-1])
        ), text


def harmful(block: dict[str, Any], value: Any, variable: str = SYSTEM) -> dict[str, Any]:
    said = meant(block)
    edits = [{"variable": variable, "value": value, "why": "so"}]
    if "edits" in said:
        return {**said, "edits": edits}
    texts = [{"do": "add", "text": value}]
    return {key: texts if key in ("lessons", "operations") else value for key in said}


USELESS: Mapping[str, Callable[[dict[str, Any]], Any]] = {
    "nothing": lambda b: "",
    "words": lambda b: "I would rather not.",
    "thoughts alone": lambda b: f"<think>{json.dumps(meant(b))}",
    "half": lambda b: json.dumps(meant(b))[:-2],
    "control characters": lambda b: harmful(b, "Guess\u0008 \u001b[2J"),
    "a text that is not there": lambda b: harmful(b, "<text 1>"),
    "half a text": lambda b: f"{json.dumps(harmful(b, '<text 1>'))}\n<text 1>\nCarry and",
    "NaN": lambda b: json.dumps(harmful(b, "X")).replace('"X"', "NaN"),
    "another form": lambda b: '{"answer": 42}',
}


@pytest.mark.parametrize("kind", [*USELESS, "cut", "refused"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_useless_model_ends_with_an_error_that_says_so(name: str, kind: str) -> None:
    pytest.importorskip("gepa") if name == "gepa" else None
    finish = {"cut": "length", "refused": "refusal"}.get(kind, "stop")
    model = Noted(USELESS.get(kind, meant), finish)
    session, steps = run(name, model)
    assert session.committed == agent()
    assert {trial.candidate for _, trial in session.trials} == {agent()}
    asked = sum(event["kind"] == "model.called" for event in model.events)
    assert steps.failed == steps.asked == asked / 2 > 0
    assert unusable_replies(model.events, steps).startswith(
        f"{asked} of {asked} replies of played/m could not be used: "
    )


HOSTILE: Mapping[str, Callable[[dict[str, Any]], Any]] = {
    "another part": lambda b: harmful(b, "Guess.", "agent/solver:agent.py"),
    "a path outside": lambda b: harmful(b, "Guess.", "prompt/system:../../x"),
    "the removal of its prompt": lambda b: harmful(b, None),
    "a manifest": lambda b: harmful(b, "{", "prompt/system:resource.json"),
    "a long text": lambda b: harmful(b, "guess " * 100_000),
    "numbers": lambda b: harmful(b, 7),
    "nesting": lambda b: '{"edits":' * 5000,
    "surrogates": lambda b: harmful(b, "Guess \ud800."),
}


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_nothing_that_a_hostile_model_writes_is_committed_corrupted(name: str, kind: str) -> None:
    pytest.importorskip("gepa") if name == "gepa" else None
    session, _ = run(name, Noted(HOSTILE[kind]))
    for text in [all_texts(session.committed), *(all_texts(trial.candidate) for _, trial in session.trials)]:
        text.encode()
        assert len(text) < 50_000
        assert not CONTROL.search(text)
    for part, tree in session.committed.parts.items():
        assert part.split("/")[0] in ("prompt", "memory")
        assert not {"resource.json", "agent.py"} & set(tree)
