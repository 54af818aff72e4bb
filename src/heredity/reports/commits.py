"""What reports read of commits: the decisions of a run, what its candidates scored in training, what changed, what was used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from heredity.gateway import Usage
from heredity.reports.fields import Json, Mean, count, items, mean_of, section, whole, words_of
from heredity.reports.text import finite

if TYPE_CHECKING:
    from heredity.reports.model import Submission

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Gain:
    """Held-out after minus before, paired by task; `verdict` as of a comparison."""

    difference: Mean
    p: float | None
    mde: float | None
    pairs: int
    verdict: str


@dataclass(frozen=True, slots=True)
class Decision:
    """One commit or refusal.

    Attributes:
        number: counts from 0, which is the initial candidate's in most runs.
        first: whether there was nothing to compare with.
        at: attempts that had been used when its evidence was complete.
        train_mean: over all attempts of the candidate in the run.
    """

    number: int
    candidate: str
    first: bool
    accepted: bool
    reason: str
    note: str
    difference: Mean
    pairs: int
    at: int
    train_mean: float | None


@dataclass(frozen=True, slots=True)
class Change:
    """What became of one file; `diff` is "" for what is no text."""

    name: str
    status: str
    added: int | None
    removed: int | None
    diff: str


@dataclass(frozen=True, slots=True)
class Used:
    """What the model calls of one purpose used; `calls` is None where they are not counted."""

    purpose: str
    usage: Usage
    calls: int | None


@dataclass(frozen=True, slots=True)
class Commits:
    """What a run by commits came to."""

    gain: Gain | None
    decisions: tuple[Decision, ...]
    changes: tuple[Change, ...] | None
    used: tuple[Used, ...]
    failed_calls: int

    @property
    def accepted(self) -> tuple[Decision, ...]:
        """The commits, the initial candidate first."""
        return tuple(d for d in self.decisions if d.accepted)

    @property
    def gained(self) -> int:
        """How many candidates took the initial one's place, or that of one that had."""
        return sum(d.accepted and not d.first for d in self.decisions)

    @property
    def refused(self) -> int:
        """How many were refused."""
        return sum(not d.accepted for d in self.decisions)

    @property
    def considered(self) -> tuple[Decision, ...]:
        """Everything that was weighed against a committed candidate."""
        return tuple(d for d in self.decisions if not d.first)

    @property
    def line(self) -> tuple[Point, ...]:
        """(attempts used, train mean) of the committed candidate, from each commit on."""
        return tuple((float(d.at), d.train_mean) for d in self.accepted if d.train_mean is not None)


def read_commits(source: Json, submissions: Sequence[Submission]) -> Commits:
    """Return what a run's metrics say of its commits; of a run without any, nothing of everything."""
    gain = section(source, "gain")
    changed = source.get("changes")
    used = section(source, "model_usage")
    return Commits(
        gain=_gain(gain) if gain else None,
        decisions=tuple(_decisions(items(source, "decisions"), submissions)),
        changes=tuple(map(_change, items(source, "changes"))) if isinstance(changed, list | tuple) else None,
        used=tuple(_used(used, name) for name in ("attempts", "method", "judging") if section(used, name)),
        failed_calls=count(used, "failed_calls"),
    )


def _gain(source: Json) -> Gain:
    return Gain(
        difference=mean_of(source, "difference"),
        p=finite(source.get("p")),
        mde=finite(source.get("mde")),
        pairs=count(source, "pairs"),
        verdict=words_of(source, "verdict"),
    )


def _decisions(entries: Sequence[Json], submissions: Sequence[Submission]) -> Iterable[Decision]:
    means = _train_means(submissions)
    notes = {s.candidate: s.note for s in reversed(submissions)}
    used = {s.index: s.budget_used for s in submissions}
    for number, entry in enumerate(entries):
        candidate = words_of(entry, "candidate")
        evidence = entry.get("submissions")
        known = [used.get(i, 0) for i in evidence] if isinstance(evidence, list | tuple) else []
        yield Decision(
            number=number,
            candidate=candidate,
            first=not entry.get("baseline"),
            accepted=entry.get("accepted") is True,
            reason=words_of(entry, "reason"),
            note=notes.get(candidate, ""),
            difference=mean_of(entry, "difference", "interval"),
            pairs=count(entry, "pairs"),
            at=max(known, default=0),
            train_mean=means.get(candidate),
        )


def _train_means(submissions: Sequence[Submission]) -> Mapping[str, float]:
    """Return the mean over all train attempts of each candidate."""
    sums: dict[str, tuple[float, int]] = {}
    for s in submissions:
        if s.train_mean is not None and s.episodes:
            total, n = sums.get(s.candidate, (0.0, 0))
            sums[s.candidate] = total + s.train_mean * s.episodes, n + s.episodes
    return {candidate: total / n for candidate, (total, n) in sums.items()}


def _change(source: Json) -> Change:
    return Change(
        name=f"{words_of(source, 'part')}: {words_of(source, 'file')}",
        status=words_of(source, "status"),
        added=whole(source, "added"),
        removed=whole(source, "removed"),
        diff=words_of(source, "diff"),
    )


def _used(source: Json, purpose: str) -> Used:
    entry = section(source, purpose)
    usage = Usage(
        input_tokens=whole(entry, "input_tokens"),
        output_tokens=whole(entry, "output_tokens"),
        cached_tokens=whole(entry, "cached_tokens"),
        cost_usd=finite(entry.get("cost_usd")),
    )
    return Used(purpose, usage, whole(entry, "calls"))
