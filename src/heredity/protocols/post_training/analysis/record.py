"""The record of a post-training run, parsed from its journal; `docs/post-training-diagnosis.md` lists the events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from heredity.analysis.run_record import finite, mean
from heredity.protocols.post_training.events import (
    BASELINE_SCORED,
    CHECKPOINT_DROPPED,
    CHECKPOINT_KEPT,
    CODE_REVISED,
    GRADING_REPEATED,
    TEXTS_MET,
    training_of,
)
from heredity.records.events import (
    AGENT_ENDED,
    AGENT_USAGE,
    JUDGING_SCORED,
    JUDGING_SELECTED,
    REFERENCE_SCORED,
    RUN_RESUMED,
    RUN_STARTED,
    SESSION_CLOSED,
    SUBMISSION_ADMITTED,
    SUBMISSION_COMPLETED,
    SUBMISSION_REJECTED,
)
from heredity.results.base import COVERAGE

GRADED, HELDOUT = "graded", "heldout"
BASE_MODEL = "base_model"
"""Category of a submission of the unchanged base model: it is answered with the baseline, and not graded."""

_COUNTS = ("input_tokens", "cache_tokens", "output_tokens")

Json = Mapping[str, Any]
Scores = Sequence[float | None]


@dataclass(slots=True)
class Step:
    """One request to grade a checkpoint.

    Attributes:
        submission: its submission number; None if refused before admission.
        candidate: digest of the submitted checkpoint; `""` if refused.
        tasks: indices of its tasks.
        note: the agent's note.
        asked_s: run clock at admission or refusal (s).
        done_s: run clock at settlement, in seconds.
        at: Unix time at settlement; None if not in the journal.
        revision: number of the code revision in force (None before the first).
        tokens: the agent's usage so far, from its event stream; None if unreported.
        status: `"ok"`, the category of its failure, or `"running"`.
        problem: the error in words; `""` without one.
        scores: score of each task, None if missing.
        errors: number of tasks failed by the checkpoint.
        restarts: reasons for restarts of its process during grading.
    """

    submission: int | None
    candidate: str = ""
    tasks: Sequence[int] = ()
    note: str = ""
    asked_s: float | None = None
    done_s: float | None = None
    at: float | None = None
    revision: int | None = None
    tokens: int | None = None
    status: str = "running"
    problem: str = ""
    scores: Scores = ()
    errors: int = 0
    restarts: Sequence[str] = ()

    @property
    def score(self) -> float | None:
        """Mean of the present scores; None if it was not scored."""
        return mean(self.scores)

    @property
    def time(self) -> str | None:
        """Settlement time in ISO 8601."""
        return None if self.at is None else datetime.fromtimestamp(self.at, UTC).isoformat(timespec="seconds")


@dataclass(slots=True)
class PostTraining:
    """The post-training content of a journal; absent parts are empty or None.

    Attributes:
        started: the data of `run.started`.
        steps: requests to grade, in order.
        revisions: the data of each `code.revised`, in order.
        baselines: view to the data of `baseline.scored`.
        repeats: submission number (None is the base model) to the scores of each repeated grading.
        judged: digest to held-out scores, of checkpoints.
        references: held-out scores of the run's references.
        clusters: view to the cluster of each task (only views with clusters).
        selected: the data of `judging.selected`.
        checkpoints: digest to the data of `checkpoint.kept`, or of `checkpoint.dropped`.
        texts: the data of the last `texts.met`.
        ended: the data of `agent.ended`.
        closed: reason of `session.closed`; `""` while it is open.
        clock_s: run clock at the agent's end, or its last recorded reading, in seconds.
        tokens: the agent's usage (None if unknown).
        cost_usd: the same in US dollars.
        calls: model calls, if a broker counted them.
    """

    started: Json = field(default_factory=dict[str, Any])
    steps: list[Step] = field(default_factory=list[Step])
    revisions: list[Json] = field(default_factory=list["Json"])
    baselines: dict[str, Json] = field(default_factory=dict[str, "Json"])
    repeats: dict[int | None, list[Scores]] = field(default_factory=dict["int | None", "list[Scores]"])
    judged: dict[str, Scores] = field(default_factory=dict[str, "Scores"])
    references: Scores = ()
    clusters: dict[str, Sequence[int | None]] = field(default_factory=dict[str, "Sequence[int | None]"])
    selected: Json | None = None
    checkpoints: dict[str, Json] = field(default_factory=dict[str, "Json"])
    texts: Json | None = None
    ended: Json | None = None
    closed: str = ""
    clock_s: float = 0.0
    tokens: int | None = None
    cost_usd: float | None = None
    calls: int | None = None

    @property
    def about(self) -> Json:
        """The post-training part of `run.started`: mode, base_model, and optional fields (see the docs)."""
        return {**(self.started.get("evolver") or {}), **training_of(self.started)}

    @property
    def coverage(self) -> float:
        """The share of scores that selection and verdicts require."""
        return self.started.get("coverage", COVERAGE)

    @property
    def level(self) -> str:
        """`"L1"`, `"L2"` or `"L3"`; `""` if unknown."""
        return str(self.about.get("level") or self.started.get("family") or "")

    @property
    def interactive(self) -> bool:
        """True for interactive tasks (L3)."""
        return self.level == "L3"

    @property
    def base(self) -> str:
        """Digest of the base model; `""` if it was not scored."""
        return next((str(b.get("candidate") or "") for b in self.baselines.values()), "")

    @property
    def numbered(self) -> list[tuple[int, Json]]:
        """The code revisions by number."""
        return [(int(data.get("revision", i)), data) for i, data in enumerate(self.revisions)]

    @property
    def chosen(self) -> str:
        """Digest of the selected checkpoint; `""` without one."""
        return str((self.selected or {}).get("candidate") or "")

    def is_copy(self, step: Step) -> bool:
        """Return True if an iteration is the unchanged base model."""
        return step.status == BASE_MODEL or (bool(self.base) and step.candidate == self.base)

    def score(self, step: Step) -> float | None:
        """Return the score of an iteration; for a copy, the base model's."""
        return mean(self.baseline(GRADED)) if self.is_copy(step) else step.score

    def baseline(self, view: str) -> Scores:
        """Return the base model's score on each task of a view; empty if it was not scored."""
        scores = self.baselines.get(view, {}).get("scores")
        return numbers(scores) if scores is not None else (self.references if view == HELDOUT else ())

    def clusters_of(self, view: str, tasks: Sequence[int]) -> list[int | None] | None:
        """Return the clusters of some tasks of a view; None if no task is clustered."""
        clusters = self.clusters.get(view)
        return None if clusters is None else [clusters[i] if i < len(clusters) else None for i in tasks]


def numbers(scores: Iterable[Any]) -> tuple[float | None, ...]:
    """Return scores with None where missing."""
    return tuple(finite(score) for score in scores)


class _Reader:
    def __init__(self) -> None:
        self.record = PostTraining()
        self.notes: dict[str, str] = {}
        self.running: dict[int, Step] = {}
        self.tick: tuple[float, float] | None = None
        self.broker = False

    def read(self, event: Json) -> None:
        record, data, at = self.record, event["data"], event.get("at")
        match event["kind"]:
            case RUN_STARTED.name:
                record.started = data
            case RUN_RESUMED.name:
                self.tick = None
            case "candidate":
                self.notes[data["digest"]] = data.get("note") or ""
            case SUBMISSION_ADMITTED.name:
                self._clock(data.get("at_s"), at)
                self._admit(data)
            case SUBMISSION_COMPLETED.name:
                self._settle(data, at)
            case SUBMISSION_REJECTED.name:
                record.steps.append(
                    Step(None, asked_s=self._now(at), done_s=self._now(at), at=at, status=data["category"],
                         problem=data.get("message") or "", **self._context())
                )  # fmt: skip
            case CODE_REVISED.name:
                self._clock(data.get("at_s"), at)
                record.revisions.append(data)
            case "heartbeat":
                self._clock(data.get("clock_s"), at)
            case SESSION_CLOSED.name:
                record.closed = data.get("reason") or "finished"
            case AGENT_USAGE.name:
                self._use(data)
            case AGENT_ENDED.name:
                record.ended = data
                self._now(at)
                self.tick = None
            case kind:
                self._judge(kind, data)

    def _judge(self, kind: str, data: Json) -> None:
        record = self.record
        if data.get("clusters"):
            record.clusters[data.get("view") or GRADED] = data["clusters"]
        match kind:
            case BASELINE_SCORED.name:
                record.baselines[data.get("view") or GRADED] = data
            case GRADING_REPEATED.name:
                record.repeats.setdefault(data.get("submit_id"), []).append(numbers(data["scores"]))
            case JUDGING_SCORED.name if data["view"] == HELDOUT:
                record.judged[data["candidate"]] = numbers(data["scores"])
            case REFERENCE_SCORED.name if data["view"] == HELDOUT:
                record.references = numbers(data["scores"])
            case TEXTS_MET.name:
                record.texts = data
            case JUDGING_SELECTED.name:
                record.selected = data
            case CHECKPOINT_KEPT.name | CHECKPOINT_DROPPED.name:
                record.checkpoints[data["digest"]] = {**data, "kept": kind == CHECKPOINT_KEPT.name}
            case _:
                pass

    def _context(self) -> dict[str, Any]:
        record = self.record
        return {"revision": record.numbered[-1][0] if record.revisions else None, "tokens": record.tokens}

    def _admit(self, data: Json) -> None:
        step = Step(
            data["submit_id"], data["candidate"], tuple(data.get("tasks") or ()), self.notes.get(data["candidate"], ""),
            asked_s=finite(data.get("at_s")), **self._context(),
        )  # fmt: skip
        self.running[data["submit_id"]] = step
        self.record.steps.append(step)

    def _settle(self, data: Json, at: float | None) -> None:
        step = self.running.pop(data["submit_id"], None)
        if step is None:
            return
        outcomes: Sequence[Json] = data.get("outcomes") or ()
        failure: Json = data.get("failure") or {}
        step.status, step.at, step.done_s = str(data["status"]), at, self._now(at)
        step.problem = str(failure.get("message") or "")
        step.restarts = tuple(data.get("restarts") or ())
        step.tasks = tuple(outcome["task"] for outcome in outcomes) or step.tasks
        step.scores = numbers(outcome.get("score") for outcome in outcomes)
        step.errors = sum(o.get("status") != "ok" and o.get("score") is not None for o in outcomes)

    def _use(self, data: Json) -> None:
        """Add up tokens; if a broker counts, agents' own reports are ignored to avoid double counting."""
        record = self.record
        if data.get("source") == "broker" and not self.broker:
            self.broker, record.tokens, record.cost_usd = True, None, None
        if self.broker and data.get("source") != "broker":
            return
        record.calls = (record.calls or 0) + 1 if self.broker else None
        counts = [finite(data.get(name)) for name in _COUNTS]
        if any(count is not None for count in counts):
            record.tokens = (record.tokens or 0) + int(sum(count or 0 for count in counts))
        if (cost := finite(data.get("cost_usd"))) is not None:
            record.cost_usd = (record.cost_usd or 0.0) + cost

    def _clock(self, clock: float | None, at: float | None) -> None:
        if clock is not None:
            self.record.clock_s = max(self.record.clock_s, clock)
            self.tick = None if at is None else (clock, at)

    def _now(self, at: float | None) -> float:
        # The clock stops while a run is down, so time is only added between events without an interruption.
        if at is not None and self.tick is not None:
            clock, then = self.tick
            self.record.clock_s = max(self.record.clock_s, clock + max(at - then, 0.0))
        return self.record.clock_s


def read_posttraining(events: Iterable[Json]) -> PostTraining:
    """Read a journal's events, in order; unknown kinds are ignored."""
    reader = _Reader()
    for event in events:
        reader.read(event)
    return reader.record
