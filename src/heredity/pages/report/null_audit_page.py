"""Page of an audit of published results: means with intervals, pairs, policies that solve nothing, signs."""

from __future__ import annotations

from heredity.results import text
from heredity.results.charts import Interval, Intervals, Reference
from heredity.results.null_audit import ModelRow, NullAudit, PairRow, Unit
from heredity.results.page import Cell, Fact, Facts, Mean, Number, Page, Row, Section, Table, Text, Verdict, of_rows

_MOST_PAIRS = 400


def null_audit_page(result: NullAudit) -> Page:
    """Return the page of an audit."""
    shared = f"{result.common} of {result.items}" if result.common < result.items else str(result.items)
    return Page(
        title=f"What {text.listed(result.files)} allows one to conclude",
        summary=tuple(Text(line, "summary") for line in result.conclusions),
        facts=Facts(
            (
                Fact("Models", len(result.models)),
                Fact("Items of all models", shared),
                Fact("Clusters of items", result.clusters),
                Fact("Pairs resolved", f"{result.resolved} of {len(result.pairs)}"),
            )
        ),
        sections=tuple(
            section
            for section in (
                _models(result),
                _neighbours(result),
                _pairs(result),
                _nulls(result),
                _signs(result),
                _columns(result),
            )
            if section.parts
        ),
        foot=(
            "Items are the sample: intervals of 95% hold for new items like these, and not for new runs of a model. Ranks are "
            "those that pairwise tests leave open, corrected by Holm's method."
        ),
        name="Null audit",
    )


def _scale(result: NullAudit) -> str:
    return "mean rank score, 1 is best" if result.unit is Unit.RANK else "mean score"


def _models(result: NullAudit) -> Section:
    null = max(result.nulls, key=lambda row: row.score, default=None)
    shown = null if null is not None and result.unit is Unit.SCORE else None
    chart = Intervals(
        "Means of models",
        tuple(Interval(m.model, m.mean, *(m.ci or (None, None)), tone=None if m.policy else 0) for m in result.models),
        _scale(result),
        reference=Reference(shown.score, shown.policy) if shown else None,
        note="95% intervals for new items" + (", by cluster" if result.clusters else ""),
    )
    rows = [Row(_model_cells(m), "reference" if m.policy else "") for m in result.models]
    names = ("model", _scale(result), "ranks left open", "items", "missing", "seeds", "sd between seeds")
    head = of_rows(names, []).columns
    about = "Without an interval, the cell says why. A single seed has no spread between runs."
    return Section(
        "models", "Models", (Text(about, "about"), Table(head, tuple(rows), "Models, best first"), chart), "lead", "all"
    )


def _model_cells(model: ModelRow) -> tuple[Cell | str | int | Number | None, ...]:
    low, high = model.ranks
    why = (str(model.unknown),) if model.unknown else ()
    mean = Cell(Mean(model.mean, *(model.ci or (None, None))), why)
    ranks = str(low) if low == high else f"{low} to {high}"
    return (model.model, mean, ranks, model.items, model.missing, model.seeds, Number(model.seed_sd))


def _needed(result: NullAudit) -> str:
    return "clusters needed" if result.clusters else "items needed"


def _neighbours(result: NullAudit) -> Section:
    """Return each model against the next one."""
    places = {model.model: i for i, model in enumerate(result.models)}
    rows = [
        [
            f"{pair.a} against {pair.b}",
            Mean(pair.difference, *(pair.ci or (None, None)), signed=True),
            Verdict(pair.verdict),
            pair.items_needed,
        ]
        for pair in result.pairs
        if places[pair.b] == places[pair.a] + 1
    ]
    table = of_rows(("neighbours", "difference", "verdict", _needed(result)), rows)
    return Section("neighbours", "Neighbours in the ranking", (table,) if rows else (), "lead", "all")


def _pairs(result: NullAudit) -> Section:
    shown = result.pairs[:_MOST_PAIRS]
    rows = [Row(_pair_cells(pair)) for pair in shown]
    names = ("first", "second", "difference", "p, corrected", "verdict", "detectable", _needed(result), "seeds needed")
    head = of_rows(names, [], left=2).columns
    caption = "Paired differences on the items of both" + (
        f", the first {len(shown)}" if len(shown) < len(result.pairs) else ""
    )
    about = (
        "Detectable is the smallest true difference that the test finds in 80%. Needed are items, or clusters of items, and "
        "seeds of each model on these items, for a single test to find a difference of this size in 80%."
    )
    parts = (Text(about, "about"), Table(head, tuple(rows), caption, csv="pairs.csv")) if rows else ()
    return Section("pairs", "Pairs", parts, "lead")


def _pair_cells(pair: PairRow) -> tuple[Cell | str | int | Number | Mean | Verdict | None, ...]:
    difference = Mean(pair.difference, *(pair.ci or (None, None)), signed=True)
    needed = (pair.items_needed, pair.seeds_needed)
    return (pair.a, pair.b, difference, Number(pair.p_holm, form="p"), Verdict(pair.verdict), Number(pair.mde), *needed)


def _nulls(result: NullAudit) -> Section:
    rows = [[n.policy, Number(n.score), n.source, text.listed(n.not_better) or "none"] for n in result.nulls]
    table = of_rows(("policy", "score", "obtained from", "models not shown to be better"), rows, left=4)
    about = "Policies that solve nothing. One that picks the best constant picks it on these data."
    return Section(
        "policies", "Policies that solve nothing", (Text(about, "about"), table) if rows else (), "lead", "all"
    )


def _signs(result: NullAudit) -> Section:
    rows = [[sign.sign, sign.count, "; ".join(sign.examples)] for sign in result.signs]
    return Section(
        "signs",
        "Signs of contamination",
        (of_rows(("sign", "count", "examples"), rows),) if rows else (),
        "main",
        "all",
    )


def _columns(result: NullAudit) -> Section:
    facts = tuple(Fact(role, name) for role, name in result.columns.items())
    return Section("columns", "Recognised columns", (Facts(facts),) if facts else (), "detail")
