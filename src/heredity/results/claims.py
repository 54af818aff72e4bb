"""Claims of a difference, as tables show them: about evolvers, over new runs, and about their products, over new cases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from heredity.results import text
from heredity.results.base import Interval, MissingBounds, Unknown
from heredity.results.page import Cell, Column, Mean, Number, Value, Verdict
from heredity.results.run import Verdict as Judged
from heredity.results.suite import Amount, Claim


def claim_columns(evolvers: str, products: str, case: str = "case") -> tuple[Column, ...]:
    """Return the columns of both claims.

    Args:
        evolvers: plural noun for the first claim, such as `evolvers`.
        products: plural noun for the second claim, such as `policies`.
        case: noun for one sample of the second claim.
    """
    numbers = tuple(Column(name, "right") for name in ("over new runs", "p (Holm)", "detectable effect"))
    cases = tuple(Column(name, "right") for name in (f"over new {case}s", f"p of {case}s (Holm)"))
    return Column(evolvers), *numbers, Column(f"these {products}"), *cases


def in_clusters(clusters: int) -> str:
    """Name the clusters that an interval samples; shown with every such error."""
    return f"cases of {text.plural(clusters, 'cluster')}"


def claim_cells(
    difference: float, evolvers: Claim, candidates: Claim, places: int | None, cost: Amount | None = None
) -> tuple[Value | Cell, ...]:
    """Return the cells of both claims, in the order of `claim_columns`; `cost` is that of the seeds that would decide."""
    return (
        _with_more(evolvers, cost),
        _interval(difference, evolvers, places),
        Number(evolvers.p_holm, form="p"),
        Number(evolvers.mde, places),
        judged(candidates),
        _interval(difference, candidates, places),
        Number(candidates.p_holm, form="p"),
    )


class Tested(Protocol):
    """Difference that was tested."""

    @property
    def verdict(self) -> Judged | None:
        """Its meaning."""

    @property
    def because(self) -> Unknown | None:
        """Reason for an undecided verdict; None if it is decided."""


def said_more(seeds: int | None, cost: Amount | None = None) -> str:
    """Say how many more seeds would decide a difference of the size seen, and what they cost; empty if unknown."""
    if seeds is None:
        return ""
    known = (
        []
        if cost is None
        else [
            text.dollars(cost.cost_usd) if cost.cost_usd else "",
            text.duration(cost.seconds) if cost.seconds else "",
        ]
    )
    costing = " and ".join(filter(None, known))
    return (
        f"About {text.plural(seeds, 'more seed')} of each would decide"
        f"{f', costing about {costing}' if costing else ''}, if the true difference is the one seen."
    )


def judged(tested: Tested | None) -> Verdict | None:
    """Return the verdict of a test for pages, with the reason if it is undecided."""
    return None if tested is None else Verdict(tested.verdict, because=tested.because or "")


def _with_more(claim: Claim, cost: Amount | None) -> Value | Cell:
    """Return the verdict of a claim about evolvers, with the number of seeds that would decide it."""
    more = said_more(claim.more_seeds, cost)
    return Cell(judged(claim), (more,)) if more else judged(claim)


def _interval(difference: float, claim: Claim, places: int | None) -> Value | Cell:
    mean = Mean(difference, *(claim.ci or (None, None)), decimals=places, signed=True)
    notes = [f"t, {claim.freedom:.1f} degrees of freedom"] if claim.freedom and claim.ci and claim.freedom < 300 else []
    notes += [] if claim.clusters is None else [in_clusters(claim.clusters)]
    return Cell(mean, tuple(notes)) if notes else mean


def claimed(
    difference: float,
    evolvers: Claim | None,
    candidates: Claim | None,
    of: tuple[str, str, str],
    notes: Sequence[str] = (),
) -> Cell:
    """Return a difference in one cell, with the verdicts of both claims below it.

    Args:
        difference: the claimed difference.
        evolvers: the claim over runs (None without a test).
        candidates: the claim over cases.
        of: nouns for the first claim, the second claim and a case: `("method", "harnesses", "task")`.
        notes: further lines below.
    """
    who, products, case = of
    lines = [_line(who, "runs", evolvers), _line(f"these {products}", f"{case}s", candidates)]
    return Cell(Number(difference, 3, "signed"), (*filter(None, lines), *notes))


def _line(of: str, over: str, claim: Claim | None) -> str:
    if claim is None:
        return ""
    bounds = f" {text.interval(*claim.ci, 3)} over {over}" if claim.ci and claim.verdict != Judged.CANNOT_TELL else ""
    together = f", {in_clusters(claim.clusters)}" if claim.clusters else ""
    why = f" ({claim.because})" if claim.because in (Unknown.MISSING, Unknown.FEW_CLUSTERS) else ""
    return f"{of}: {claim.verdict}{why}{bounds}{together}"


def intervals_shown(claims: Sequence[tuple[Claim | None, Claim | None]]) -> list[Interval | None]:
    """Return the intervals for a chart: of the evolvers if all claims over runs are decided, else of their products."""
    of_evolvers = of_runs(claims)
    chosen = [evolvers if of_evolvers else candidates for evolvers, candidates in claims]
    return [claim.ci if claim else None for claim in chosen]


def of_runs(claims: Sequence[tuple[Claim | None, Claim | None]]) -> bool:
    """Report whether all claims over runs are decided, so that a chart shows their intervals."""
    return all(evolvers is not None and evolvers.verdict != Judged.CANNOT_TELL for evolvers, _ in claims)


def bounds_note(bounds: MissingBounds) -> str:
    """Format the bounds of a mean or a difference under missing scores, in a few words."""
    return f"{text.interval(bounds.low, bounds.high, 3)} including missing scores"


def missing_note(missing: int, bounds: MissingBounds) -> str:
    """Format the number of missing scores and the bounds of the mean."""
    return f"{text.number(missing)} missing: {between(bounds)}"


def between(bounds: MissingBounds) -> str:
    """Format the bounds of a mean, with their origin."""
    ends = "of the range" if bounds.declared else "observed"
    return f"{text.interval(bounds.low, bounds.high)} with the minimum and maximum {ends} for missing scores"
