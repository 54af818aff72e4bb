"""Mechanism runs: if programs or recordings stand in for a language model, nothing is ranked.

A stand-in does what it was written to do, so a score with it says nothing about the method. The models of a run are
read from its record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from heredity.analysis.run_record import RunRecord
from heredity.models.settings import stand_in
from heredity.results.run import RunResults
from heredity.results.suite import CellResults, Comparisons, Entry, SuiteResults, TasksetResults
from heredity.results.text import listed

_NOTHING_USED = (0, 0)


def stand_ins(record: RunRecord) -> list[str]:
    """Return the program or recording models of a run's rollouts, method, agent or team, sorted."""
    started = record.started
    routes: Mapping[str, Sequence[str]] = started.get("routes") or {}
    named = [call["model"] for call in record.calls]
    evolver = started.get("evolver") or {}
    named += [str(evolver["model"])] if evolver.get("model") else []
    named += map(str, evolver.get("models", ()))
    execution = started.get("execution") or ""
    named += [execution] if execution and _asks_model(record) else []
    models = {model for name in named for model in routes.get(name, (name,))}
    return sorted(filter(stand_in, models))


def _asks_model(record: RunRecord) -> bool:
    """Return True if any rollout asked the execution model: its usage is recorded and not known to be zero."""
    made = [s.completion for s in record.submissions.values() if s.completion]
    used = [*(data.get("usage") for data in made), *(data.get("usage") for data in record.scored.values())]
    return any(usage and (usage["input_tokens"], usage["output_tokens"]) != _NOTHING_USED for usage in used)


def unranked_because(runs: Sequence[RunResults]) -> str | None:
    """Return the reason why the evolvers of these runs are not ranked; None if they are."""
    models = sorted({model for run in runs for model in run.stand_ins})
    if models:
        are = "is a program" if len(models) == 1 else "are programs"
        return (
            f"{listed(models)} {are} in a language model's place, so this shows that mechanisms work, not how good methods are: "
            "nothing is ranked."
        )
    if runs and all(map(_starts_from_program, runs)):
        return "Nothing evolved, and given programs answered: this shows their behaviour, and nothing is ranked."
    return None


def _starts_from_program(run: RunResults) -> bool:
    """Return True if a run judged its initial candidate, a program that asked no model."""
    used = run.model_usage
    asked = used is not None and (
        used.method.calls or (used.rollouts.input_tokens, used.rollouts.output_tokens) != (0, 0)
    )
    return not asked and bool(run.decisions) and len({decision.candidate for decision in run.decisions}) == 1


def mechanisms_alone(suite: SuiteResults) -> SuiteResults:
    """Return a suite's results without ranks, intervals, tests and verdicts, in configured order."""
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
