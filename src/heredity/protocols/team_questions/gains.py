"""What evolution gains a team, by level: each question with and without it, as in table 2 of Autogenesis, with error bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from heredity.analysis.bounds import GAP, SHARE, Floats
from heredity.analysis.paired import compare_paired
from heredity.analysis.samples import Clusters
from heredity.analysis.statistics import evolver_mean
from heredity.protocols.team_questions.results import GainRow, QuestionRow, TeamRun
from heredity.results.run import RunResults, RunStatus

NONE = "none"
_MODEL = "gateway.execution"
_ORDER = (NONE, "within", "across")


@dataclass(frozen=True, slots=True)
class _Arm:
    """Runs that differ in their seeds alone: of each, the questions by their ids, and whether its evolution failed."""

    mode: str
    runs: Mapping[int | None, Mapping[str, QuestionRow]]
    failed: Sequence[bool] = (False,)


def gains(runs: Sequence[RunResults], *, ranked: bool = True) -> list[GainRow]:
    """Return a row for each way to evolve and each level, all levels together last.

    Args:
        runs: of a suite.
        ranked: whether there are intervals and tests.
    """
    rows: list[GainRow] = []
    for (taskset, _), arms in _grouped(runs).items():
        plain = arms.get(NONE)
        for mode in sorted(arms, key=_ORDER.index):
            arm = arms[mode]
            levels = sorted({row.level for questions in arm.runs.values() for row in questions.values()})
            model = next(str(r.conditions.get(_MODEL, "")) for r in runs if r.taskset == taskset)
            for level in [*levels, 0] if len(levels) > 1 else levels:
                row = _row(arm, plain if mode != NONE else None, level, ranked=ranked)
                rows += [row.model_copy(update={"taskset": taskset, "model": model})] if row else []
    return rows


def _grouped(runs: Sequence[RunResults]) -> dict[tuple[str, str], dict[str, _Arm]]:
    """Put runs together that differ in their evolution and their seeds alone."""
    groups: dict[tuple[str, str], dict[str, dict[int | None, Mapping[str, QuestionRow]]]] = {}
    failed: dict[tuple[str, str, str], list[bool]] = {}
    for run in runs:
        if isinstance(run.part, TeamRun):
            mode = run.part.evolution.mode if run.part.evolution else NONE
            arms = groups.setdefault((run.taskset or "", repr(sorted(run.conditions.items()))), {})
            arms.setdefault(mode, {})[run.seed] = {row.id: row for row in run.part.questions}
            key = (run.taskset or "", repr(sorted(run.conditions.items())), mode)
            failed.setdefault(key, []).append(run.status is RunStatus.FAILED)
    return {
        key: {mode: _Arm(mode, own, failed[(*key, mode)]) for mode, own in arms.items()} for key, arms in groups.items()
    }


def _row(arm: _Arm, plain: _Arm | None, level: int, *, ranked: bool) -> GainRow | None:
    asked = {name: row for own in arm.runs.values() for name, row in own.items() if level in (0, row.level)}
    names = sorted(asked)
    clusters: Clusters = [asked[name].cluster or None for name in names]
    table = _table(arm, list(arm.runs), names)
    if not np.isfinite(table).any():
        return None
    failed = all(arm.failed)
    estimate = evolver_mean([table], SHARE, [clusters]) if ranked else None
    seeds = [seed for seed in arm.runs if plain is not None and seed in plain.runs]
    before = _table(plain, seeds, names) if plain is not None and seeds and not failed else None
    difference = _table(arm, seeds, names) - before if before is not None else None
    compared = None if difference is None else compare_paired([difference], bounds=GAP, clusters=[clusters])
    share = float(np.nanmean(before)) if before is not None and np.isfinite(before).any() else 0.0
    return GainRow(
        taskset="",
        model="",
        mode=arm.mode,
        level=level,
        runs=len(arm.runs),
        questions=len(names),
        share=float(np.nanmean(table)),
        ci=estimate[0].interval if estimate else None,
        gain=compared.difference if compared else None,
        gain_ci=compared.interval if compared and ranked else None,
        p=compared.p if compared and ranked else None,
        percent=100.0 * compared.difference / share if compared and share > 0.0 else None,
        failed=failed,
    )


def _table(arm: _Arm, seeds: Sequence[int | None], names: Sequence[str]) -> Floats:
    """Return right answers of shape (runs, questions), NaN where a question was not tried."""

    def right(row: QuestionRow | None) -> float:
        return float("nan") if row is None or row.status == "missing" else float(row.correct)

    return np.array([[right(arm.runs[seed].get(name)) for name in names] for seed in seeds])
