"""What a number claims, as tables show it: of evolvers, over new runs; of what is at hand, over new cases; whatever is missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from heredity.results import text
from heredity.results.base import Interval, MissingBounds, Unknown
from heredity.results.page import Cell, Column, Mean, Number, Value, Verdict
from heredity.results.run import Verdict as Judged
from heredity.results.suite import Claim


def claim_columns(evolvers: str, products: str, case: str = "case") -> tuple[Column, ...]:
    """Return the columns of both claims.

    Args:
        evolvers: what the first is of, such as `evolvers`.
        products: what the second is of, such as `policies`.
        case: what one of its sample is called.
    """
    numbers = tuple(Column(name, "right") for name in ("over new runs", "p (Holm)", "detectable effect"))
    cases = tuple(Column(name, "right") for name in (f"over new {case}s", f"p of {case}s (Holm)"))
    return Column(evolvers), *numbers, Column(f"these {products}"), *cases


def in_clusters(clusters: int) -> str:
    """Say what was drawn where cases were not drawn one by one: it stands beside every error that takes clusters for the sample."""
    return f"cases of {text.plural(clusters, 'cluster')}"


def claim_cells(difference: float, evolvers: Claim, candidates: Claim, places: int | None) -> tuple[Value | Cell, ...]:
    """Return the cells of both claims, in the order of `claim_columns`."""
    return (
        judged(evolvers),
        _interval(difference, evolvers, places),
        Number(evolvers.p_holm, form="p"),
        Number(evolvers.mde, places),
        judged(candidates),
        _interval(difference, candidates, places),
        Number(candidates.p_holm, form="p"),
    )


class Tested(Protocol):
    """A difference that was tested."""

    @property
    def verdict(self) -> Judged | None:
        """What it means."""

    @property
    def because(self) -> Unknown | None:
        """Why nobody can tell yet; None where that is not so."""


def judged(tested: Tested | None) -> Verdict | None:
    """Return the verdict of a test as pages show it, with the reason where nobody can tell."""
    return None if tested is None else Verdict(tested.verdict, because=tested.because or "")


def _interval(difference: float, claim: Claim, places: int | None) -> Value | Cell:
    mean = Mean(difference, *(claim.ci or (None, None)), decimals=places, signed=True)
    return mean if claim.clusters is None else Cell(mean, (in_clusters(claim.clusters),))


def claimed(
    difference: float,
    evolvers: Claim | None,
    candidates: Claim | None,
    of: tuple[str, str, str],
    notes: Sequence[str] = (),
) -> Cell:
    """Return a difference in one cell, with what it says of either below it.

    Args:
        difference: what is claimed.
        evolvers: the claim over runs; None where nothing is tested.
        candidates: the claim over cases.
        of: what the first is of, what the second is of, and what a case is called: `("method", "harnesses", "task")`.
        notes: what else stands below.
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
    """Return the intervals that a chart shows: of the evolvers where all of them can be told apart, else of what is at hand."""
    of_evolvers = of_runs(claims)
    chosen = [evolvers if of_evolvers else candidates for evolvers, candidates in claims]
    return [claim.ci if claim else None for claim in chosen]


def of_runs(claims: Sequence[tuple[Claim | None, Claim | None]]) -> bool:
    """Return whether all of these claims can be made of evolvers, so that a chart shows intervals over runs."""
    return all(evolvers is not None and evolvers.verdict != Judged.CANNOT_TELL for evolvers, _ in claims)


def bounds_note(bounds: MissingBounds) -> str:
    """Say between what a mean or a difference lies, whatever the missing scores are, in a few words."""
    return f"{text.interval(bounds.low, bounds.high, 3)} with what is missing"


def missing_note(missing: int, bounds: MissingBounds) -> str:
    """Say between what a mean lies, whatever the missing scores are."""
    return f"{text.number(missing)} missing: {between(bounds)}"


def between(bounds: MissingBounds) -> str:
    """Return the bounds of a mean, and what they are made with."""
    ends = "of the range" if bounds.declared else "seen"
    return f"{text.interval(bounds.low, bounds.high)} with the least and the greatest {ends} for what is missing"
