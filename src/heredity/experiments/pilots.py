"""Pilots: the runs of a suite's folder, as a plan needs them, and entries by what a user calls them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from heredity.analysis.costs import RunCost, run_cost
from heredity.analysis.planning import Pilot
from heredity.analysis.run_record import read_run as read_record
from heredity.analysis.suite_table import evolver_labels, taskset_scores
from heredity.errors import ConfigError
from heredity.experiments.results import is_suite, metrics_of, read_runs
from heredity.records import read_journal

_QUESTION = re.compile(r"\s*(?P<a>\S.*?)\s+vs\.?\s+(?P<b>\S.*?)(?:\s+decided)?\s*", re.IGNORECASE)


def read_pilot(folder: Path) -> Pilot:
    """Read the runs of a suite.

    Raises:
        ConfigError: if the folder holds no suite, or none of its runs was judged.
    """
    results = read_runs(folder)[0] if is_suite(folder) else []
    runs = [result.metrics for result in results]
    labels = evolver_labels(runs, metrics_of)
    tasksets = [t for t in taskset_scores(runs, labels, metrics_of) if t.cells]
    if not tasksets:
        raise ConfigError(
            f"{folder} holds no suite with judged runs; give a suite's folder, such as runs/demo-20260101-120000"
        )
    costs: dict[tuple[str, str], list[RunCost]] = {}
    for result, label in zip(results, labels, strict=True):
        if result.metrics.heldout is not None:
            record = read_record(event.to_json() for event in read_journal(result.folder / "journal.jsonl"))
            costs.setdefault((str(result.metrics.taskset), label), []).append(run_cost(record))
    return Pilot(tasksets, costs)


def pair_of(question: str, labels: Sequence[str]) -> tuple[str, str]:
    """Return the two entries that a question such as `"gepa vs random"` or `"gepa vs random decided"` names.

    Args:
        question: names are labels, or parts of them that only one has.
        labels: the entries' labels.

    Raises:
        ConfigError: if it is no such question, or a name fits none of the labels, or several.
    """
    match = _QUESTION.fullmatch(question)
    if match is None:
        raise ConfigError(f'{question!r} names no two entries; write "A vs B", of {_choices(labels)}')
    a, b = _entry(match["a"], labels), _entry(match["b"], labels)
    if a == b:
        raise ConfigError(f"{question!r} names {a} twice; name two of {_choices(labels)}")
    return a, b


def _entry(name: str, labels: Sequence[str]) -> str:
    fitting = [label for label in labels if label == name] or [label for label in labels if name in label]
    if len(fitting) != 1:
        why = f"fits {_choices(fitting)}" if fitting else "fits no entry"
        raise ConfigError(f"{name!r} {why}; give a name that fits one of {_choices(labels)}")
    return fitting[0]


def _choices(labels: Iterable[str]) -> str:
    return ", ".join(map(repr, labels)) or "none"
