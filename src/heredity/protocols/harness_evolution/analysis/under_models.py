"""Scores of a method's harnesses under their own execution model and under others, over its runs."""

from __future__ import annotations

from collections.abc import Sequence

from heredity.analysis.run_record import mean
from heredity.protocols.harness_evolution.results import (
    BeforeAfter,
    HarnessRunResults,
    ModelCell,
    ModelRow,
    UnderModel,
)


def model_rows(label: str, harnesses: Sequence[HarnessRunResults], *, ranked: bool) -> list[ModelRow]:
    """Return a row per view with a cell per model, the model they evolved under first; means over runs.

    Args:
        label: the method.
        harnesses: results of its runs.
        ranked: True to report the interval of a single run.
    """
    evolved = harnesses[0].plan.execution or "own model"
    under: dict[str, dict[str, list[UnderModel]]] = {}
    for harness in harnesses:
        for model, views in harness.cross_model.items():
            for view, row in views.items():
                under.setdefault(view, {}).setdefault(model, []).append(row)
    rows: list[ModelRow] = []
    for view, others in under.items():
        home = [level for harness in harnesses if (level := _at_home(harness, view))]
        cells = [_cell(evolved, home, [_rise(level) for level in home], ranked)]
        cells += [_cell(model, levels, [row.difference for row in levels], ranked) for model, levels in others.items()]
        rows.append(ModelRow(evolver=label, evolved=evolved, view=view, cells=tuple(cells)))
    return rows


def _at_home(harness: HarnessRunResults, view: str) -> BeforeAfter | None:
    if view not in harness.views or view not in harness.paired:
        return None
    snapshots, chosen = harness.views[view].snapshots, harness.paired[view].snapshots
    if "base" not in chosen or "final" not in chosen:
        return None
    return BeforeAfter(A_0=snapshots[chosen["base"]].perf.micro, A_T=snapshots[chosen["final"]].perf.micro)


def _rise(level: BeforeAfter) -> float | None:
    return None if level.A_0 is None or level.A_T is None else level.A_T - level.A_0


def _cell(model: str, levels: Sequence[BeforeAfter], gained: Sequence[float | None], ranked: bool) -> ModelCell:
    # With several runs, the interval of one would be too narrow.
    only = levels[0] if ranked and len(levels) == 1 else None
    return ModelCell(
        model=model,
        runs=len(levels),
        A_0=mean(level.A_0 for level in levels),
        A_T=mean(level.A_T for level in levels),
        difference=mean(gained),
        ci=only.ci if isinstance(only, UnderModel) else None,
    )
