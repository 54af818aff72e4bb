"""Sequential suites: add seeds until one of two entries is better, with the rule and each look on record.

Both are in `sequence.jsonl` in the suite's folder, a journal like those of runs. A resumed suite resumes its rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from typing_extensions import TypedDict

from heredity._core.errors import ConfigError, RecordError
from heredity.analysis.anytime import LEAST_SEEDS, LEVEL
from heredity.configuration.config import Config
from heredity.experiments.config import cells as cells_of
from heredity.records import read_journal
from heredity.records.events import EventKind, by_name
from heredity.records.journal import Event, Journal
from heredity.results.suite import Scale, SeedLook, Sequential, Stop

_QUESTION = re.compile(r"\s*(?P<a>\S.*?)\s+vs\.?\s+(?P<b>\S.*?)(?:\s+decided)?\s*", re.IGNORECASE)


def pair_of(question: str, labels: Sequence[str]) -> tuple[str, str]:
    """Return the two entries named by a question such as `"gepa vs random"` or `"gepa vs random decided"`.

    Args:
        question: names are labels, or parts that match one label only.
        labels: labels of the entries.

    Raises:
        ConfigError: if the question has another form, or a name matches no label or several.
    """
    match = _QUESTION.fullmatch(question)
    if match is None:
        raise ConfigError(f'{question!r} does not name two entries; write "A vs B", of {_choices(labels)}')
    a, b = _entry(match["a"], labels), _entry(match["b"], labels)
    if a == b:
        raise ConfigError(f"{question!r} names {a} twice; name two of {_choices(labels)}")
    return a, b


def _entry(name: str, labels: Sequence[str]) -> str:
    fitting = [label for label in labels if label == name] or [label for label in labels if name in label]
    if len(fitting) != 1:
        why = f"matches {_choices(fitting)}" if fitting else "matches no entry"
        raise ConfigError(f"{name!r} {why}; give a name that matches one of {_choices(labels)}")
    return fitting[0]


def _choices(labels: Iterable[str]) -> str:
    return ", ".join(map(repr, labels)) or "none"


NAME = "sequence.jsonl"
MOST_SEEDS = 32
"""Default maximum number of seeds."""

_SUITE = "suite.toml"


class SequenceStarted(TypedDict):
    """The rule: entries to compare, seeds in their order, level; `runs` are those of each entry."""

    a: str
    b: str
    seeds: Sequence[int]
    level: float
    runs: Mapping[str, Sequence[str]]


class SequenceLooked(TypedDict):
    """Result after a seed (see `SeedLook`), and the unit of differences."""

    seed: int
    pairs: int
    difference: float | None
    ci: Sequence[float] | None
    p: float | None
    scale: str


class SequenceStopped(TypedDict):
    """Reason for which no more seeds are run."""

    reason: str


STARTED = EventKind("sequence.started", SequenceStarted)
LOOKED = EventKind("sequence.looked", SequenceLooked)
STOPPED = EventKind("sequence.stopped", SequenceStopped)
EVENTS = by_name(STARTED, LOOKED, STOPPED)


def seeds_of(given: int | list[int], most: int | None) -> list[int]:
    """Return the seeds to run at most, in order: those of a list, or 0, 1, … .

    Args:
        given: `run.seeds` of the configuration; a number is ignored here, as it applies to suites of fixed size.
        most: maximum number; None for all of a list, or `MOST_SEEDS`.

    Raises:
        ConfigError: if they are too few for any decision, or fewer than `most`.
    """
    listed = sorted(given) if isinstance(given, list) else list(range(most or MOST_SEEDS))
    if most is not None and most > len(listed):
        raise ConfigError(f"--most-seeds is {most} and run.seeds lists {len(listed)}; list more, or give a number")
    chosen = listed[:most]
    if len(chosen) < LEAST_SEEDS:
        raise ConfigError(
            f"{len(chosen)} seeds cannot decide between any two entries; give --most-seeds {LEAST_SEEDS} or more"
        )
    return chosen


def begin(folder: Path, config: Config, question: str) -> None:
    """Write the rule into a suite's folder, or check that it is already there.

    Args:
        folder: a new folder, or that of a suite started with the same rule.
        config: the suite's configuration.
        question: such as `"gepa vs random decided"`.

    Raises:
        ConfigError: if the question does not name two entries, or the folder holds a suite with another rule or
            without one.
        RecordError: if it cannot be written.
    """
    cells = cells_of(config)
    a, b = pair_of(question, list(dict.fromkeys(cell.label for cell in cells)))
    runs = {label: [cell.id for cell in cells if cell.label == label] for label in (a, b)}
    rule: SequenceStarted = {"a": a, "b": b, "seeds": config.run.seed_list, "level": round(LEVEL, 6), "runs": runs}
    before = read_sequence(folder)
    if before is not None:
        if before.rule == rule:
            return
        rule_text = f"{before.rule['a']} vs {before.rule['b']}, at most {len(before.rule['seeds'])} seeds"
        raise ConfigError(
            f"{folder} holds a suite with the rule {rule_text}; choose another folder, or resume that one"
        )
    if (folder / _SUITE).exists():
        raise ConfigError(f"{folder} holds a suite that was not started with --until; choose another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordError(f"{folder} cannot be created: {error.strerror}") from error
    with closing(Journal.open(folder / NAME)) as journal:
        journal.append(*STARTED.line(rule))
        journal.sync()


def sequential_results(folder: Path, evolvers: Mapping[str, str]) -> Sequential | None:
    """Return the sequential results of a suite; None for a suite of fixed size.

    Args:
        folder: the suite's folder.
        evolvers: id of a run to the label of its evolver in the suite's results.
    """
    sequence = read_sequence(folder)
    if sequence is None:
        return None
    rule, last = sequence.rule, sequence.looks[-1] if sequence.looks else None
    a, b = (next((evolvers[run] for run in rule["runs"][x] if run in evolvers), x) for x in sequence.labels)
    return Sequential(
        a=a,
        b=b,
        scale=Scale(last["scale"]) if last else Scale.RETURN,
        level=rule["level"],
        most_seeds=len(rule["seeds"]),
        looks=[SeedLook.model_validate({k: v for k, v in look.items() if k != "scale"}) for look in sequence.looks],
        stopped=None if sequence.stopped is None else Stop(sequence.stopped),
    )


@dataclass(frozen=True, slots=True)
class SequenceRecord:
    """Journal of a sequence.

    Attributes:
        rule: the entries compared and the seeds.
        looks: the result after each seed.
        stopped: why no more seeds are run; None while more may follow.
    """

    rule: SequenceStarted
    looks: Sequence[SequenceLooked]
    stopped: str | None

    @classmethod
    def of(cls, events: Sequence[Event]) -> SequenceRecord:
        """Read a journal's events.

        Raises:
            RecordError: if they do not begin with the rule.
        """
        rule, stopped = STARTED.first(events), STOPPED.first(events)
        if rule is None:
            raise RecordError(f"{NAME} does not begin with {STARTED.name}; restore it from a copy")
        return cls(rule, list(LOOKED.all(events)), None if stopped is None else stopped["reason"])

    @property
    def labels(self) -> tuple[str, str]:
        """The two entries."""
        return self.rule["a"], self.rule["b"]


def read_sequence(folder: Path) -> SequenceRecord | None:
    """Return a suite's sequence; None if it has none, or was interrupted before its first line."""
    events = read_journal(folder / NAME) if (folder / NAME).exists() else []
    return SequenceRecord.of(events) if events else None
