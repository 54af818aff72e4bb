"""Schedules: train tasks are pushed to a method in batches (SEAGym, section 3.2).

A plan is drawn once, from the schedule and the run's seed alone, so that all compared methods see the same batches.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from heredity._core.errors import BudgetError, ConfigError, RejectedError, ReplayDivergedError
from heredity._core.ids import digest_json, generator
from heredity._core.outside import json_value, read_bytes
from heredity._core.refusals import reading
from heredity.methods import Batch, Decision, Feedback, Trial
from heredity.records import Blob
from heredity.records.events import CANDIDATE_DECIDED, CANDIDATE_PROBED, Plan, PlannedBatch
from heredity.records.journal import Line
from heredity.resources import Candidate
from heredity.results.status import PROGRAM_FAILURES
from heredity.session.session_log import SessionLog, decision_to_json

GATE_KEYS = "gate/"
"""Prefix of the keys of the gate's submissions; reserved."""

REFUSED = "contract gate: "
"""Prefix of the reason of a decision that the gate refused."""

Record = Callable[[Sequence[Line], Sequence[Blob]], Awaitable[None]]
"""Journals lines together with their blobs."""

Probe = Callable[[Candidate], Awaitable[str]]
"""Loads a candidate and checks it against its contract; returns `""` or a one-line error."""

Submit = Callable[[Sequence[Trial], str], Awaitable[list[Feedback]]]
"""Submits trials under a key."""


@dataclass(frozen=True, slots=True)
class ContractGate:
    """A check before adoption: the candidate loads, keeps its contract, and its code works on canaries.

    No published method has one (SEAGym, section 5: one broken hook failed 66 of 80 tasks).

    Attributes:
        probe: loads and checks a candidate.
        canaries: train task indices that the candidate must run on, charged to the budget.
        submit: submits the canaries.
    """

    probe: Probe
    canaries: Sequence[int]
    submit: Submit


def gate_of(plan: BatchPlan | None, probe: Probe | None, submit: Submit) -> ContractGate | None:
    """Return the contract gate of a run; None if its schedule has none."""
    if plan is None or probe is None or not plan.schedule.gate:
        return None
    return ContractGate(probe, plan.canaries, submit)


class Decisions:
    """The decisions of one session, in order.

    A replaying method repeats its earlier decisions, which are already recorded.
    """

    def __init__(self, log: SessionLog, record: Record, gate: ContractGate | None, *, replay: bool) -> None:
        """Restore the state from the log.

        Args:
            log: the state of the session, read from the journal.
            record: writes to the journal.
            gate: checks every commit but the first (None for no gate).
            replay: True if the method starts again from the beginning.
        """
        self._log, self._record, self._gate = log, record, gate
        self._position = 0 if replay else len(log.decisions)

    def repeated(self, asked: Decision) -> Decision | None:
        """Return the recorded decision that this one repeats; None if it is new.

        Raises:
            ReplayDivergedError: if a different decision is recorded at this position.
        """
        if self._position >= len(self._log.decisions):
            return None
        recorded = self._log.decisions[self._position]
        if not _matches(recorded, asked):
            raise ReplayDivergedError(
                f"decision {self._position + 1} of the resumed run differs from the journal; start a new run"
            )
        self._position += 1
        return recorded

    async def make(self, asked: Decision, candidate: Candidate | None) -> Decision:
        """Pass a new decision through the gate, journal it, and return the recorded decision.

        Raises:
            RejectedError: if the candidate was never submitted and is not passed.
        """
        await self._record_candidate(asked, candidate)
        made = asked
        if self._gate is not None and asked.accepted and asked.baseline:
            made = await self._check(self._gate, asked, candidate)
        await self._record([CANDIDATE_DECIDED.line(decision_to_json(made))], [])
        self._position += 1
        return made

    async def _record_candidate(self, asked: Decision, candidate: Candidate | None) -> None:
        if asked.candidate in self._log.candidates:
            return
        if candidate is None or candidate.digest != asked.candidate:
            raise RejectedError(
                f"candidate {asked.candidate[:12]} was never submitted; submit it first or pass it to commit()"
            )
        blob = Blob.of(candidate.to_bytes())
        line = {
            "digest": candidate.digest,
            "blob": blob.digest,
            "parents": [asked.baseline] if asked.baseline else [],
            "note": asked.reason,
        }
        await self._record([("candidate", line)], [blob])

    async def _check(self, gate: ContractGate, asked: Decision, candidate: Candidate | None) -> Decision:
        problem = self._log.probed.get(asked.candidate)
        if problem is None:
            if candidate is None or candidate.digest != asked.candidate:
                raise RejectedError("the contract gate needs the candidate; pass it to commit()")
            problem = await gate.probe(candidate)
            await self._record([CANDIDATE_PROBED.line({"candidate": asked.candidate, "problem": problem})], [])
        if problem:
            return _refusal(asked, REFUSED + problem)
        if not gate.canaries or candidate is None:
            return asked
        trial = Trial(candidate, gate.canaries, parents=[asked.baseline], note="canaries of the contract gate")
        try:
            (answer,) = await gate.submit([trial], f"{GATE_KEYS}{self._position}")
        except BudgetError as error:
            return _refusal(asked, f"{REFUSED}the budget does not cover the canaries: {error}")
        evidence = replace(asked, submissions=(*asked.submissions, answer.submit_id))
        failed = [o for o in answer.outcomes if o.status in PROGRAM_FAILURES]
        if not failed:
            return evidence
        why = failed[0].failure.message if failed[0].failure else failed[0].status
        return _refusal(evidence, f"{REFUSED}its code fails on {len(failed)} of {len(answer.outcomes)} canaries: {why}")


def _refusal(asked: Decision, reason: str) -> Decision:
    return replace(asked, accepted=False, reason=" ".join(reason.split())[:2000])


def _matches(recorded: Decision, asked: Decision) -> bool:
    """Return True if the recorded decision is `asked`, possibly with the gate's canaries added or refused by the gate."""
    more = recorded.submissions
    made = replace(asked, submissions=more) if more[: len(asked.submissions)] == asked.submissions else asked
    if recorded.reason.startswith(REFUSED):
        made = replace(made, accepted=False, reason=recorded.reason)
    return recorded in (asked, made)


def frozen(decisions: Sequence[Decision], initial: str | None = None) -> str | None:
    """Return the digest of the last committed candidate; `initial` if nothing was committed."""
    return next((d.candidate for d in reversed(decisions) if d.accepted), initial)


Persistence = Literal["persistent", "reset"]
"""Keep what was learned from batch to batch, or start each batch from the initial candidate."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """The settings of a schedule.

    Single-task adaptation is `batch_size=1, persistence="reset"`; online transfer is one epoch of small batches; several
    epochs of batches are the epoch setting.

    Attributes:
        batch_size: tasks per batch (the last batch of an epoch may have fewer).
        epochs: passes over the train tasks, each in a new order.
        updates: updates a method may make per batch.
        persistence: see `Persistence`.
        assess: batches between judged snapshots; 0 for the ends of epochs. The first and last snapshots are always judged.
        gate: True to check every commit with the contract gate.
        canaries: train tasks that the gate runs (0 for none), as without a gate.
    """

    batch_size: int = 8
    epochs: int = 1
    updates: int = 1
    persistence: Persistence = "persistent"
    assess: int = 1
    canaries: int = 0
    gate: bool = False

    def __post_init__(self) -> None:
        for name, least in (("batch_size", 1), ("epochs", 1), ("updates", 1), ("assess", 0), ("canaries", 0)):
            if getattr(self, name) < least:
                raise ConfigError(f"schedule.{name} is {getattr(self, name)}; expected {least} or more")


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """A schedule with its batches drawn.

    Attributes:
        schedule: the schedule it was drawn for.
        seed: the seed it was drawn from.
        train: number of train tasks.
        batches: the batches (in order).
        canaries: train task indices that the contract gate runs.
    """

    schedule: Schedule
    seed: int
    train: int
    batches: tuple[Batch, ...]
    canaries: tuple[int, ...] = ()

    @property
    def digest(self) -> str:
        """Digest of the batches and their source; schedules that use them differently share it."""
        return digest_json([self.seed, self.train, self.schedule.batch_size, self.schedule.epochs, self._batches()])

    def assessed(self, started: int) -> list[int]:
        """Return the batch counts at which snapshots are judged, from 0 to `started`, the number of started batches."""
        ends = [b.number for b, after in zip(self.batches, self.batches[1:], strict=False) if b.epoch != after.epoch]
        every = self.schedule.assess
        inner = range(every, started, every) if every else [n for n in ends if n < started]
        return sorted({0, *inner, started})

    def to_json(self) -> Plan:
        """Return the plan as JSON values, with its digest and all settings of its schedule."""
        return {
            "schema_version": 1,
            "digest": self.digest,
            "batch_size": self.schedule.batch_size,
            "epochs": self.schedule.epochs,
            "updates": self.schedule.updates,
            "persistence": self.schedule.persistence,
            "assess": self.schedule.assess,
            "canaries": self.schedule.canaries,
            "gate": self.schedule.gate,
            "seed": self.seed,
            "train": self.train,
            "canary_tasks": list(self.canaries),
            "batches": self._batches(),
        }

    def _batches(self) -> list[PlannedBatch]:
        return [{"number": b.number, "epoch": b.epoch, "tasks": list(b.tasks)} for b in self.batches]


def draw_plan(schedule: Schedule, train: int, seed: int) -> BatchPlan:
    """Draw the batches of a schedule over `train` tasks.

    Every task is in one batch of each epoch.

    Raises:
        ConfigError: if a batch or the canaries need more train tasks than there are.
    """
    for name, count in (("batch_size", schedule.batch_size), ("canaries", schedule.canaries)):
        if count > train:
            raise ConfigError(f"schedule.{name} is {count}, but there are only {train} train tasks; lower it")
    drawn: list[tuple[int, tuple[int, ...]]] = []
    for epoch in range(1, schedule.epochs + 1):
        order: list[int] = generator(seed, "schedule", "epoch", epoch).permutation(train).tolist()
        starts = range(0, train, schedule.batch_size)
        drawn += [(epoch, tuple(sorted(order[start : start + schedule.batch_size]))) for start in starts]
    return _make_plan(schedule, seed, train, drawn)


def _make_plan(schedule: Schedule, seed: int, train: int, drawn: Sequence[tuple[int, tuple[int, ...]]]) -> BatchPlan:
    reset = schedule.persistence == "reset"
    batches = [Batch(i, epoch, tasks, schedule.updates, reset) for i, (epoch, tasks) in enumerate(drawn, 1)]
    order = generator(seed, "schedule", "canaries").permutation(train)
    canaries = sorted(int(task) for task in order[: schedule.canaries]) if schedule.gate else []
    return BatchPlan(schedule, seed, train, tuple(batches), tuple(canaries))


def read_plan(path: Path, schedule: Schedule, train: int) -> BatchPlan:
    """Read a saved plan, so that runs of several suites see the same batches.

    Args:
        path: a JSON file with the output of `BatchPlan.to_json`.
        schedule: the run's schedule; the plan must have the same batch size and epochs.
        train: number of train tasks.

    Raises:
        ConfigError: if it cannot be read, is not a plan, was modified, or was drawn for other settings.
    """
    with reading(path, "JSON", "give the file of a saved plan"):
        data = json_value(read_bytes(path))
    try:
        seed, drawn_for = data["seed"], {name: data[name] for name in ("train", "batch_size", "epochs")}
        plan = _make_plan(schedule, seed, train, [(b["epoch"], tuple(b["tasks"])) for b in data["batches"]])
        digest = data["digest"]
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(
            f"{path} is not a saved plan ({error!r:.200}); use a file from the plans/ folder of a suite"
        ) from error
    for name, here in (("train", train), ("batch_size", schedule.batch_size), ("epochs", schedule.epochs)):
        if drawn_for[name] != here:
            raise ConfigError(
                f"{path} was drawn for {name} = {drawn_for[name]!r:.80}, but this run has {here!r}; make them equal"
            )
    if plan.digest != digest:
        raise ConfigError(f"{path} was modified after it was drawn; restore it or draw a new one")
    return plan
