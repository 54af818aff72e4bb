"""Page of a plan: the design to buy, the cost of each design, the precision of the pilot."""

from __future__ import annotations

from collections.abc import Sequence

from heredity.results import text
from heredity.results.charts import Lines, Reference, Series
from heredity.results.page import Cell, Fact, Facts, Mean, Number, Page, Row, Section, Table, Text, Value, of_rows
from heredity.results.suite import Aim, Amount, Component, ComponentsRow, Design, Plan, Scale

_COST = ("time", "rollouts", "tokens", "cost")
NOT_SEPARABLE = (
    "The variance of one rollout and of the policy's seed is part of seed × case: each case is run once, with a policy "
    "seed that the case fixes."
)


def plan_page(plan: Plan) -> Page:
    """Return the page of a plan."""
    where = text.listed([text.short_task(name) for name in plan.tasksets[:3]])
    where = where if len(plan.tasksets) <= 3 else f"{len(plan.tasksets)} tasksets"
    return Page(
        title=f"Plan: {plan.a} against {plan.b} on {where}",
        summary=tuple(Text(line, "summary") for line in sentences(plan, where)),
        facts=Facts(
            (
                Fact("Pilot", f"{plan.pilot_seeds} seeds × {plan.pilot_cases} {_cases(plan)}"),
                Fact("Detectable with the pilot's size", Number(plan.detectable), _unit(plan)),
                Fact("Tests in the family", plan.tests),
            )
        ),
        sections=(_designs(plan), _effects(plan), _curves(plan), _components(plan)),
        foot="Power is that of the test of evolvers in a suite's comparisons, given the pilot's variance components.",
    )


def sentences(plan: Plan, where: str) -> list[str]:
    """Return sentences on the design to buy, and on its certainty."""
    aim = plan.aims[0]
    best = cheapest(aim)
    asked = f"To detect a difference of {text.number(aim.effect)}{_unit(plan)} between {plan.a} and {plan.b} on {where}"
    asked += f" with {text.percent(plan.power)} power"
    if best is None:
        return [
            f"{asked}: no number of seeds suffices with these numbers of cases; plan more cases or a larger difference."
        ]
    sentence = f"{asked}: {best.seeds} seeds × {best.cases} {_cases(plan)}, about {_bill(best.cost)}."
    if best.power_ci is None:
        return [sentence]
    low, high = best.power_ci
    caution = (
        f"A pilot of {plan.pilot_seeds} seeds × {plan.pilot_cases} {_cases(plan)} leaves uncertainty: the true "
        f"power lies between {text.percent(low)} and {text.percent(high)}."
    )
    return [sentence, caution]


def _cases(plan: Plan) -> str:
    return "clusters of cases" if plan.clustered else "cases"


def cheapest(aim: Aim) -> Design | None:
    """Return the cheapest design of an aim; None if there is none."""
    return next((design for design in aim.designs if design.cheapest), None)


def _unit(plan: Plan) -> str:
    return " in normalised score" if plan.scale is Scale.NORMALISED else ""


def _bill(cost: Amount | None) -> str:
    parts = [] if cost is None else [text.duration(cost.seconds) if cost.seconds is not None else ""]
    parts += [text.dollars(cost.cost_usd)] if cost is not None and cost.cost_usd else []
    listed = [part for part in parts if part]
    dear = cost is not None and cost.cost_usd is None
    return " and ".join([*(listed or ["an unknown time"]), *(["dollars unknown"] if dear else [])])


def _amounts(cost: Amount | None) -> list[Value | Cell]:
    if cost is None:
        return [None] * len(_COST)
    return [
        Number(cost.seconds, form="duration"),
        Number(None if cost.rollouts is None else round(cost.rollouts)),
        Number(cost.tokens, form="amount"),
        Number(cost.cost_usd, form="dollars"),
    ]


def _designs(plan: Plan) -> Section:
    aim = plan.aims[0]
    rows = [
        Row(
            (
                d.cases,
                Cell(d.seeds, ("cheapest",) if d.cheapest else (), strong=d.cheapest) if d.seeds else "out of reach",
                Number(d.power, form="percent"),
                *_amounts(d.cost),
            ),
            "chosen" if d.cheapest else "",
        )
        for d in aim.designs
    ]
    head = of_rows(("held-out cases", "seeds", "power", *_COST), [], left=0).columns
    caption = f"Designs that detect a difference of {text.number(aim.effect)}{_unit(plan)} with {text.percent(plan.power)} power"
    about = (
        f"At {text.percent(plan.level)}, corrected for {text.plural(plan.tests, 'test')}. Time is the wall time of evolvers "
        "plus that of judging, one after the other; parallel runs take less. A dash is unknown."
    )
    return Section(
        "designs", "Seeds and cases", (Text(about, "about"), Table(head, tuple(rows), caption)), "lead", "all"
    )


def _effects(plan: Plan) -> Section:
    rows: list[list[Value | Cell]] = []
    for aim in sorted(plan.aims, key=lambda aim: aim.effect):
        best = cheapest(aim)
        seeds: Value = best.seeds if best else "out of reach"
        rows.append([Number(aim.effect), best.cases if best else None, seeds, *_amounts(best.cost if best else None)])
    head = ("difference", "held-out cases", "seeds", *_COST)
    return Section(
        "effects", "Other differences", (of_rows(head, rows, left=0, caption="Cheapest design of each"),), "lead", "all"
    )


def _curves(plan: Plan) -> Section:
    series = tuple(
        Series(f"{cases} cases", i, tuple((float(n), p) for n, p in points), dots=False)
        for i, (cases, points) in enumerate(plan.curves.items())
    )
    title = f"Power to detect a difference of {text.number(plan.aims[0].effect)}{_unit(plan)}"
    chart = Lines(
        title, "seeds", "power", series, reference=Reference(plan.power, "wanted"), y_from=0.0, whole=True, wide=True
    )
    return Section("power", "Power against seeds", (chart,), "lead", "page")


def _components(plan: Plan) -> Section:
    pair = {plan.a, plan.b}
    shown = [r for r in plan.components if r.entry in pair and (r.against is None or r.against in pair)]
    others = [r for r in plan.components if r not in shown]
    caption = "Standard deviations with 95% intervals, and shares of the variance of one score"
    parts = [Text(NOT_SEPARABLE, "about"), _component_table(shown, caption)]
    if others:
        parts.append(_component_table(others, "Other entries", page_only=True))
    return Section("components", "Variance of scores", tuple(parts), "main", "all")


def _component_table(rows: Sequence[ComponentsRow], caption: str, *, page_only: bool = False) -> Table:
    head = of_rows(("scores of", "on", "by", "deviation", "share", "seeds × cases"), [], left=3).columns
    shown = tuple(Row(cells) for row in rows for cells in _component_cells(row))
    return Table(head, shown, caption, page_only=page_only, folded=page_only)


def _component_cells(row: ComponentsRow) -> list[tuple[Value | Cell, ...]]:
    name = f"{row.entry} − {row.against}" if row.against else row.entry
    where = text.short_task(row.taskset) if row.taskset else "all, normalised"
    if row.note:
        return [(name, where, row.note, None, None, None)]
    listed = (("seed", row.seed), ("case", row.case), ("seed × case", row.residual))
    size = f"{row.seeds} × {row.cases}"
    return [(name, where, source, *_component(part), size) for source, part in listed]


def _component(part: Component | None) -> tuple[Value, Value]:
    return (None, None) if part is None else (Mean(part.sd, *part.ci), Number(part.share, form="percent"))
