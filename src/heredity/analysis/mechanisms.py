"""Runs that show mechanisms: where programs or recordings answer in a language model's place, nothing is ranked.

A stand-in does what it was written to do, so how good a method is with it says nothing of the method. Which models a run used
is read from its record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from heredity.analysis.run_record import RunRecord
from heredity.gateway.settings import stand_in
from heredity.results.run import RunResults
from heredity.results.suite import CellResults, Comparisons, Entry, SuiteResults, TasksetResults
from heredity.results.text import listed

_NOTHING_USED = (0, 0)


def stand_ins(record: RunRecord) -> list[str]:
    """Return the models a run used that are programs or recordings, sorted: of its rollouts, its method, its agent or its team."""
    started = record.started
    routes: Mapping[str, Sequence[str]] = started.get("routes") or {}
    named = [call["model"] for call in record.calls]
    evolver = started.get("evolver") or {}
    named += [str(evolver["model"])] if evolver.get("model") else []
    named += map(str, evolver.get("models", ()))
    execution = started.get("execution") or ""
    named += [execution] if execution and _asked(record) else []
    models = {model for name in named for model in routes.get(name, (name,))}
    return sorted(filter(stand_in, models))


def _asked(record: RunRecord) -> bool:
    """Return whether any rollout asked the execution model: what it used is on record, and not known to be nothing."""
    made = [s.completion for s in record.submissions.values() if s.completion]
    used = [*(data.get("usage") for data in made), *(data.get("usage") for data in record.scored.values())]
    return any(usage and (usage["input_tokens"], usage["output_tokens"]) != _NOTHING_USED for usage in used)


def unranked_because(runs: Sequence[RunResults]) -> str | None:
    """Return why the evolvers of these runs are not ranked; None if they are."""
    models = sorted({model for run in runs for model in run.stand_ins})
    if models:
        are = "is a program" if len(models) == 1 else "are programs"
        return (
            f"{listed(models)} {are} in a language model's place, so this shows that mechanisms work, not how good methods are: "
            "nothing is ranked."
        )
    if runs and all(map(_given, runs)):
        return (
            "Nothing evolved, and the programs that answer were given: this shows what they do, and nothing is ranked."
        )
    return None


def _given(run: RunResults) -> bool:
    """Return whether a run judged what it began with, a program that asked no model."""
    used = run.model_usage
    asked = used is not None and (
        used.method.calls or (used.rollouts.input_tokens, used.rollouts.output_tokens) != (0, 0)
    )
    return not asked and bool(run.decisions) and len({decision.candidate for decision in run.decisions}) == 1


def mechanisms_alone(suite: SuiteResults) -> SuiteResults:
    """Return a suite's results without ranks, intervals, tests and verdicts, in the order in which it was configured."""
    references = [entry.evolver for entry in suite.leaderboard if entry.reference]
    order = {name: i for i, name in enumerate([*suite.evolvers, *references])}
    return suite.model_copy(
        update={
            "leaderboard": sorted(map(_entry, suite.leaderboard), key=lambda entry: order[entry.evolver]),
            "tasksets": [_taskset(taskset, order) for taskset in suite.tasksets],
            "comparisons": Comparisons(suite=[], tasksets=[]),
            "profiles": [],
        }
    )


def _entry(entry: Entry) -> Entry:
    nothing = {
        "rank": None,
        "rank_ci": None,
        "rank_score": None,
        "rank_score_ci": None,
        "rank_score_at_best": None,
        "family_scores": {},
        "group_scores": {},
        "wins": 0,
        "top2": 0,
    }
    return entry.model_copy(update={**nothing, "iqm": None, "iqm_ci": None, "p_best": None, "spread_unknown": None})


def _taskset(taskset: TasksetResults, order: Mapping[str, int]) -> TasksetResults:
    cells = sorted(map(_cell, taskset.cells), key=lambda cell: order[cell.evolver])
    return taskset.model_copy(update={"best_mean": None, "cells": cells})


def _cell(cell: CellResults) -> CellResults:
    return cell.model_copy(
        update={"ci": None, "ci_unknown": None, "rank": None, "rank_score": None, "normalised": None}
    )
