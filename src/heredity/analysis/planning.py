"""From a pilot to a plan: the seeds and held-out cases needed to find a difference between two entries, and their cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from heredity._core.errors import ConfigError
from heredity.analysis.amounts import FREE, mean, sum_known, times, total
from heredity.analysis.anytime import Components, components, pooled
from heredity.analysis.power import Question, Variances, detectable, least_seeds, power, seeds_needed
from heredity.analysis.run_record import RunRecord
from heredity.analysis.samples import LEAST_RUNS, Floats, clustered
from heredity.analysis.statistics import CONFIDENCE
from heredity.analysis.suite_comparisons import paired_gaps
from heredity.analysis.suite_table import TasksetScores
from heredity.analysis.usage import TokenUsage, best_known
from heredity.results.suite import Aim, Amount, Component, ComponentsRow, Design, Plan, Scale

HELD_OUT = "heldout"


@dataclass(frozen=True, slots=True)
class RunCost:
    """The cost of one run.

    Attributes:
        seed: cost of evolving, and of judging on views other than the held-out one.
        case: cost of one held-out case.
    """

    seed: Amount
    case: Amount


def run_cost(record: RunRecord) -> RunCost:
    """Return the cost of a run."""
    scored = {(data["view"], data["candidate"]): data for data in record.scored.values()}
    heldout = [data for (view, _), data in scored.items() if view == HELD_OUT]
    others = [data for (view, _), data in scored.items() if view != HELD_OUT]
    calls = any(s.completion and s.completion.get("usage") for s in record.submissions.values()) or record.calls
    outside = (record.started.get("evolver") or {}).get("kind") == "agent"
    made = [s.completion.get("usage") for s in record.submissions.values() if s.completion] if calls else []
    evolving = [
        Amount(
            rollouts=float(sum(s.charge for s in record.submissions.values())),
            seconds=record.wall_seconds,
            tokens=0.0,
            cost_usd=0.0,
        ),
        *map(_used, (*made, *(call["usage"] for call in record.calls))),
        *((_of_agent(best_known(record.usage)),) if outside or record.usage else ()),
        *(_judged(data) for data in others),
    ]
    cases = sum(len(data["scores"]) for data in heldout)
    return RunCost(total(evolving), times(total(map(_judged, heldout)), 1.0 / cases) if cases else FREE)


def _judged(data: Mapping[str, Any]) -> Amount:
    rollouts = Amount(rollouts=float(len(data["scores"])), seconds=data["seconds"], tokens=0.0, cost_usd=0.0)
    # Rollouts that call no model have no usage.
    return total([rollouts, _used(data["usage"])]) if "usage" in data else rollouts


def _used(usage: Mapping[str, Any] | None) -> Amount:
    counted = usage or {}
    tokens = sum_known([counted.get("input_tokens"), counted.get("output_tokens")])
    return Amount(rollouts=0.0, seconds=0.0, tokens=tokens, cost_usd=counted.get("cost_usd"))


def _of_agent(usage: TokenUsage) -> Amount:
    tokens = None if usage.tokens is None else float(usage.tokens)
    return Amount(rollouts=0.0, seconds=0.0, tokens=tokens, cost_usd=usage.cost_usd)


_KNOWN = 200
"""Draws of the components for the interval of the power."""


def variances(parts: Components) -> Variances:
    """Return only the estimated components."""
    return parts.seed, parts.case, parts.residual


@dataclass(frozen=True, slots=True)
class Pilot:
    """Runs of a pilot.

    Attributes:
        tasksets: their held-out scores.
        costs: (taskset, entry) to the cost of each run.
    """

    tasksets: Sequence[TasksetScores]
    costs: Mapping[tuple[str, str], Sequence[RunCost]]

    @property
    def entries(self) -> list[str]:
        """Entries with scores, without the reference."""
        return list(dict.fromkeys(entry for taskset in self.tasksets for entry in taskset.cells))


@dataclass(frozen=True, slots=True)
class Wanted:
    """Goal of a plan.

    Attributes:
        pair: two entries.
        taskset: name of a taskset; "" for the mean over all, or for the only one.
        effect: the difference to find; None for the smallest that a suite of the pilot's size finds.
        normalised: whether the effect is in normalised scores; always so over several tasksets.
        power: probability of finding the effect, in (0.5, 1).
        tests: number of tests the p-value is corrected for; None for those of the pilot's entries and tasksets.
    """

    pair: tuple[str, str]
    taskset: str = ""
    effect: float | None = None
    normalised: bool = False
    power: float = 0.8
    tests: int | None = None


def plan(pilot: Pilot, wanted: Wanted) -> Plan:
    """Return the recommended designs.

    Raises:
        ConfigError: if the pilot is too small: fewer than two paired seeds or held-out cases, or no normalised scores.
    """
    chosen, scale = _chosen(pilot, wanted)
    parts = [_needed(t, wanted.pair, scale) for t in chosen]
    count = len(pilot.entries)
    tests = wanted.tests or math.comb(count, 2) * (len(pilot.tasksets) if len(chosen) == 1 else 1)
    question = Question([variances(p) for p in parts], 1.0, tests)
    seeds, cases = min(p.seeds for p in parts), min(p.cases for p in parts)
    if not any(sum(row) for row in question.tasksets):
        raise ConfigError(
            f"{' and '.join(wanted.pair)} scored the same difference in every seed and case of the pilot: nothing varies, and one "
            "pair of seeds shows it; choose other entries, or a taskset on which they vary"
        )
    smallest = detectable(question, max(seeds, least_seeds(len(chosen))), cases, wanted.power)
    effect = wanted.effect if wanted.effect is not None else _upwards(smallest)
    together = any(_cases_of_each(t, wanted.pair) > 1.0 for t in chosen)
    costs = _costs(pilot, chosen, wanted.pair)
    designer = _Designer(question, parts, wanted.power, cases, *costs, least_cases=LEAST_RUNS if together else 4)
    aims = [designer.with_interval(designer.aim(effect)), designer.aim(effect / 2), designer.aim(effect * 2)]
    return Plan(
        a=wanted.pair[0],
        b=wanted.pair[1],
        tasksets=[t.name for t in chosen],
        scale=scale,
        power=wanted.power,
        level=round(1.0 - CONFIDENCE, 6),
        tests=tests,
        pilot_seeds=seeds,
        pilot_cases=cases,
        clustered=together,
        detectable=smallest,
        aims=aims,
        curves=designer.curves(aims[0]),
        components=component_rows(pilot),
        cost_per_seed=designer.seed,
        cost_per_case=designer.case,
    )


def component_rows(pilot: Pilot) -> list[ComponentsRow]:
    """Return the components of every entry and every pair of them: on each taskset, and over those with normalised scores."""
    rows: list[ComponentsRow] = []
    pairs = [*((entry, None) for entry in pilot.entries), *combinations(pilot.entries, 2)]
    for a, b in pairs:
        on_each = [(t, _estimated(t, a, b)) for t in pilot.tasksets]
        rows += [_row(t.name, a, b, Scale.RETURN, parts) for t, parts in on_each]
        scaled = [_over(parts, t.span(a)) for t, parts in on_each if parts is not None and t.span(a) is not None]
        if len(pilot.tasksets) > 1:
            rows.append(_row(None, a, b, Scale.NORMALISED, pooled(scaled) if scaled else None))
    return rows


def _chosen(pilot: Pilot, wanted: Wanted) -> tuple[list[TasksetScores], Scale]:
    tasksets = [t for t in pilot.tasksets if wanted.taskset in ("", t.name)]
    scale = Scale.NORMALISED if wanted.normalised or len(tasksets) > 1 else Scale.RETURN
    chosen = [t for t in tasksets if scale is Scale.RETURN or t.span(wanted.pair[0]) is not None]
    if not chosen:
        raise ConfigError(
            "no entry beats the reference on these tasksets, so normalised scores do not exist; give one taskset and an effect "
            "in its own units"
        )
    return chosen, scale


def _needed(taskset: TasksetScores, pair: tuple[str, str], scale: Scale) -> Components:
    parts = _estimated(taskset, *pair)
    if parts is None:
        gaps = paired_gaps(taskset, *pair)
        seeds = np.isfinite(gaps).any(axis=-1).sum()
        raise ConfigError(
            f"the pilot has {seeds} paired seeds and {gaps.shape[1] if gaps.size else 0} paired held-out cases of "
            f"{' and '.join(pair)} on {taskset.name}; a plan needs at least two seeds and two cases: run a pilot with run.seeds=4"
        )
    return _over(parts, taskset.span(pair[0])) if scale is Scale.NORMALISED else parts


def _estimated(taskset: TasksetScores, a: str, b: str | None) -> Components | None:
    if b is not None:
        gaps = paired_gaps(taskset, a, b)
        return components(clustered(gaps, taskset.clusters)) if gaps.size else None
    cell = taskset.cells.get(a)
    return None if cell is None else components(clustered(cell.scores, taskset.clusters))


def _cases_of_each(taskset: TasksetScores, pair: tuple[str, str]) -> float:
    """Return the average number of cases in a cluster; 1 if cases are not clustered."""
    gaps = paired_gaps(taskset, *pair)
    return gaps.shape[1] / clustered(gaps, taskset.clusters).shape[1]


def _over(parts: Components, span: float | None) -> Components:
    unit = (span or 1.0) ** 2
    return replace(
        parts,
        seed=parts.seed / unit,
        case=parts.case / unit,
        residual=parts.residual / unit,
        draws=parts.draws / unit,
    )


def _row(taskset: str | None, a: str, b: str | None, scale: Scale, parts: Components | None) -> ComponentsRow:
    return ComponentsRow(
        taskset=taskset,
        entry=a,
        against=b,
        scale=scale,
        seeds=parts.seeds if parts else 0,
        cases=parts.cases if parts else 0,
        seed=_component(parts, "seed"),
        case=_component(parts, "case"),
        residual=_component(parts, "residual"),
        note="" if parts else "not separable: at least two seeds and two held-out cases are needed",
    )


def _component(parts: Components | None, name: str) -> Component | None:
    if parts is None:
        return None
    value, (low, high) = getattr(parts, name), parts.interval(name)
    whole = parts.seed + parts.case + parts.residual
    return Component(sd=math.sqrt(value), ci=(math.sqrt(low), math.sqrt(high)), share=value / whole if whole else None)


def _costs(pilot: Pilot, tasksets: Sequence[TasksetScores], pair: tuple[str, str]) -> tuple[Amount, Amount]:
    runs = [pilot.costs.get((t.name, entry), ()) for t in tasksets for entry in pair]
    counts = [_cases_of_each(t, pair) for t in tasksets for _ in pair]
    cases = [times(mean(c.case for c in several), n) for several, n in zip(runs, counts, strict=True)]
    return total(mean(c.seed for c in several) for several in runs), total(cases)


def _upwards(effect: float) -> float:
    """Round an effect up to two digits."""
    unit = 10.0 ** (math.floor(math.log10(effect)) - 1)
    return float(f"{math.ceil(effect / unit - 1e-9) * unit:.2g}")


@dataclass(frozen=True, slots=True)
class _Designer:
    question: Question
    parts: Sequence[Components]
    wanted: float
    cases: int
    seed: Amount
    case: Amount
    least_cases: int = 4

    def aim(self, effect: float) -> Aim:
        """Return the designs that find an effect, with half to eight times the pilot's number of cases."""
        question = replace(self.question, effect=effect)
        least = self.least_cases
        counts = sorted({max(least, self.cases // 2), *(max(least, self.cases * n) for n in (1, 2, 4, 8))})
        designs = [self._design(question, cases) for cases in counts]
        able = [
            (_price(d.cost), d.seeds, i) for i, d in enumerate(designs) if d.cost is not None and d.seeds is not None
        ]
        if able:
            best = min(able)[2]
            designs[best] = designs[best].model_copy(update={"cheapest": True})
        return Aim(effect=effect, designs=designs)

    def _design(self, question: Question, cases: int) -> Design:
        seeds = seeds_needed(question, cases, self.wanted)
        if seeds is None:
            return Design(cases=cases, seeds=None, power=None, power_ci=None, cost=None, cheapest=False)
        cost = times(total([self.seed, times(self.case, cases)]), seeds)
        reached = power(question, seeds, cases)
        return Design(cases=cases, seeds=seeds, power=reached, power_ci=None, cost=cost, cheapest=False)

    def with_interval(self, aim: Aim) -> Aim:
        """Add the 95% interval of the cheapest design's power, given the pilot's uncertainty about the components."""
        question = replace(self.question, effect=aim.effect)
        drawn: list[Floats] = [p.draws[:_KNOWN] for p in self.parts]

        def interval(design: Design) -> tuple[float, float] | None:
            if not design.cheapest or design.seeds is None:
                return None
            cases, seeds = design.cases, design.seeds
            rows = ([tuple(d[i]) for d in drawn] for i in range(_KNOWN))
            powers = [power(replace(question, tasksets=row), seeds, cases) for row in rows]
            low, high = np.quantile(powers, ((1.0 - CONFIDENCE) / 2, (1.0 + CONFIDENCE) / 2))
            return float(low), float(high)

        return Aim(effect=aim.effect, designs=[d.model_copy(update={"power_ci": interval(d)}) for d in aim.designs])

    def curves(self, aim: Aim) -> dict[int, list[tuple[int, float]]]:
        """Return power against seeds for each number of cases."""
        question, least = replace(self.question, effect=aim.effect), least_seeds(len(self.question.tasksets))
        most = 2 * max([d.seeds for d in aim.designs if d.cheapest and d.seeds], default=32)
        counts = sorted(
            {*range(least, min(most, 24) + 1), *np.linspace(least, max(most, least), 16).astype(int).tolist()}
        )
        return {d.cases: [(n, power(question, n, d.cases)) for n in counts] for d in aim.designs}


def _price(cost: Amount) -> float:
    """Return the cost that ranks designs: dollars if known and nonzero, else time, else rollouts."""
    return cost.cost_usd or cost.seconds or cost.rollouts or 0.0
