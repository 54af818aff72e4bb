"""Optimizers over a real session: what was asked and attempted before is answered from the journal."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.methods.sums import (
    SYSTEM,
    TRAIN,
    Played,
    agent,
    all_texts,
    attempt_at,
    context,
    proposing,
    right_if_taught,
    teaching,
)

from heredity._core.ids import digest_bytes
from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory
from heredity.methods import Budget, Decision
from heredity.methods.registry import method
from heredity.models import Model, Reply, Request
from heredity.records import BlobStore, Committer, Journal
from heredity.resources import Candidate
from heredity.sandbox.limits import Limits
from heredity.session import Session, SessionRules
from heredity.session.schedule import Schedule, draw_plan
from heredity.tasks import Task


class SumsRunner:
    """Rollouts sums in this process, and counts them."""

    def __init__(self) -> None:
        self.rollouts = 0

    async def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncIterator[tuple[int, Trajectory]]:
        for position, job in enumerate(jobs):
            self.rollouts += 1
            said = self.answer(job.candidate, job.task.index)
            trajectory = attempt_at(job.candidate, job.task.index, said).trajectory
            assert trajectory is not None
            yield position, trajectory

    def answer(self, candidate: Candidate, task: int) -> str:
        return right_if_taught(candidate, task)

    async def close(self) -> None:
        pass


def taught(block: dict[str, Any]) -> dict[str, str]:
    return {SYSTEM: "Add and carry." if block["round"] == 2 else f"Take a guess. {block['round']}.{block['draw']}"}


async def guesses(candidate: Candidate) -> str:
    """Play the contract gate's probe."""
    return "it guesses" if "guess" in all_texts(candidate) else ""


def evolve(
    folder: Path, name: str, model: Model, runner: SumsRunner, options: dict[str, Any], schedule: Schedule | None = None
) -> tuple[Decision, ...]:
    """Evolve over a real session, with at most 200 rollouts; under a schedule, by its batches."""
    plan = schedule and draw_plan(schedule, TRAIN, seed=0)
    tasks = [Task(f"train/{i}", "train", i, {}) for i in range(TRAIN)]

    async def run() -> tuple[Decision, ...]:
        records = Committer(Journal.open(folder / "journal.jsonl"), BlobStore(folder / "blobs"))
        rules = SessionRules(Budget(episodes=200), seed=0, replay=True, plan=plan, probe=guesses)
        given = context(agent(), model, **options)
        session = Session(records, runner, taskset=given.taskset, tasks=tasks, rules=rules)
        answering = replace(given, model=session.recorded(model), scheduled=plan is not None)
        await method(name).evolve(session, answering)
        records.journal.close()
        return session.decisions

    return asyncio.run(run())


def units(journal: bytes) -> list[int]:
    """Return the lengths of a journal that a kill may leave: after each group of lines that was written at once."""
    lines = journal.splitlines(keepends=True)
    times = [json.loads(line)["at"] for line in lines]
    return [sum(map(len, lines[:i])) for i in range(1, len(lines)) if times[i] != times[i - 1]]


class Rewriting(Played):
    """Plays the model of the gepa package's own request, without a state of its own."""

    async def reply(self, request: Request) -> Reply:
        self.requests.append(request)
        words = "Take a guess" if int(request.digest[:4], 16) % 2 else "Add and carry"
        return Reply(f"```\n{words}. {request.digest[:4]}\n```")


OPTIMIZER = {"batch": 4, "rounds": 4, "confirm": 2}
CASES: dict[str, tuple[Callable[[], Played], dict[str, Any], int]] = {
    **{name: (lambda: proposing(taught), OPTIMIZER, 2) for name in ("reflection", "textgrad", "reinforce-pp", "grpo")},
    "ace": (lambda: Played(teaching), {"batch": 4, "rounds": 4}, 5),
    "tf-grpo": (lambda: Played(teaching), {"batch": 4, "rounds": 4, "repeats": 2, "compare": "unsolved"}, 2),
    "refine": (lambda: Played(teaching), {"batch": 4, "rounds": 4}, 5),
    "ahe": (lambda: Played(teaching), {"batch": 4, "rounds": 4}, 5),
    "gepa": (lambda: Rewriting(teaching), {"batch": 3, "pareto": 6, "metric_calls": 60}, 2),
    "gepa:improve": (lambda: Played(teaching), {"batch": 3, "pareto": 6, "metric_calls": 60, "proposer": "improve"}, 2),
}


BATCHES = Schedule(batch_size=5, epochs=2, updates=2, canaries=2, gate=True)
SCHEDULED: dict[str, tuple[Callable[[], Played], dict[str, Any], int]] = {
    "ahe": (lambda: Played(teaching), {}, 13),
    "ace": (lambda: Played(teaching), {}, 13),
    "gepa": (lambda: Rewriting(teaching), {"batch_calls": 30}, 2),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.fast(4)
def test_an_interrupted_run_takes_the_same_decisions_and_pays_for_nothing_twice(name: str, tmp_path: Path) -> None:
    interrupted(name, *CASES[name], tmp_path)


@pytest.mark.parametrize("name", SCHEDULED)
@pytest.mark.fast(1)
def test_so_does_one_under_a_schedule_with_a_contract_gate(name: str, tmp_path: Path) -> None:
    interrupted(name, *SCHEDULED[name], tmp_path, BATCHES)


class Late:
    """A model whose replies to requests that are made at once arrive in another order for each `order`."""

    def __init__(self, model: Played, order: int) -> None:
        self.name, self._model, self._order = model.name, model, order

    async def reply(self, request: Request) -> Reply:
        for _ in range(int(digest_bytes(f"{self._order} {request.digest}".encode())[:2], 16)):
            await asyncio.sleep(0)
        return await self._model.reply(request)


@pytest.mark.parametrize(
    "name", [*CASES, *(f"{name}, scheduled" for name in SCHEDULED), "best-of-n-edits", "sequential-edits"]
)
@pytest.mark.fast(2)
def test_what_a_method_does_does_not_hang_on_the_order_in_which_replies_arrive(name: str, tmp_path: Path) -> None:
    plain, _, scheduled = name.partition(", ")
    edits = (lambda: proposing(taught), {"batch": 4, "confirm": 2}, 0)
    play, options, _ = (SCHEDULED if scheduled else CASES).get(plain, edits)
    method_name = plain.partition(":")[0]
    if method_name == "gepa":
        pytest.importorskip("gepa")
    journals: list[list[str]] = []
    for order in range(3):
        folder = tmp_path / str(order)
        folder.mkdir()
        evolve(folder, method_name, Late(play(), order), SumsRunner(), options, BATCHES if scheduled else None)
        journals.append(lasting(folder / "journal.jsonl"))
    assert journals[0] == journals[1] == journals[2]


def lasting(journal: Path) -> list[str]:
    """Return a journal's events without times, those of calls apart: they are on record as their replies arrive."""
    events = [json.loads(line) for line in journal.read_bytes().splitlines()]
    kept = [
        json.dumps(
            [
                event["kind"],
                {key: value for key, value in event["data"].items() if not key.endswith(("at_s", "seconds"))},
            ]
        )
        for event in events
    ]
    return [e for e in kept if "model.called" not in e] + sorted(e for e in kept if "model.called" in e)


def interrupted(
    name: str, play: Callable[[], Played], options: dict[str, Any], accepted: int, tmp_path: Path,
    schedule: Schedule | None = None,
) -> None:  # fmt: skip
    name = name.partition(":")[0]
    if name == "gepa":
        pytest.importorskip("gepa")
    whole = tmp_path / "whole"
    whole.mkdir()
    first, runner = play(), SumsRunner()
    decisions = evolve(whole, name, first, runner, options, schedule)
    assert [d.accepted for d in decisions].count(True) == accepted
    journal = (whole / "journal.jsonl").read_bytes()
    lengths = units(journal)
    for length in (*lengths[8 :: max(1, len(lengths) // 4)], len(journal)):
        again, rest, folder = play(), SumsRunner(), tmp_path / str(length)
        (folder / "blobs").mkdir(parents=True)
        (folder / "journal.jsonl").write_bytes(journal[:length])
        for blob in (path for path in (whole / "blobs").rglob("*") if path.is_file()):
            copy = folder / blob.relative_to(whole)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(blob.read_bytes())
        assert evolve(folder, name, again, rest, options, schedule) == decisions
        if length == len(journal):
            assert (rest.rollouts, len(again.requests)) == (0, 0)
        assert rest.rollouts < runner.rollouts
