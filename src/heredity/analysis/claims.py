"""The two claims that a difference makes: of the evolvers, over runs, and of the candidates at hand, over cases.

    both = compare(strata, tests=3)                    # before p-values are corrected
    evolvers, candidates = claims([both])[0]

All comparisons of evolvers, under any protocol, are made here, so they share one model (`docs/analysis.md`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from numpy.typing import ArrayLike

from heredity.analysis.paired import Comparison, Sides, compare_cases, compare_runs, holm, verdict
from heredity.analysis.power import seeds_to_decide
from heredity.analysis.samples import Clusters, Interval
from heredity.analysis.statistics import CONFIDENCE
from heredity.results.base import COVERAGE, Unknown, covered
from heredity.results.run import Verdict
from heredity.results.suite import Claim

LEVEL = 1.0 - CONFIDENCE


@dataclass(frozen=True, slots=True)
class Both:
    """A difference as a sample of runs and as one of cases, before p-values are corrected.

    Attributes:
        evolvers: comparison with runs and cases as the sample.
        candidates: comparison with cases as the sample.
        marked: whether one side is the same for all seeds, such as a reference or a first snapshot.
    """

    evolvers: Comparison
    candidates: Comparison
    marked: bool


def compare(
    strata: Sequence[ArrayLike],
    tests: int = 1,
    bounds: Interval | None = None,
    *,
    sides: Sides | None = None,
    cases: Sequence[ArrayLike] | None = None,
    clusters: Sequence[Clusters | None] | None = None,
    least: float = COVERAGE,
    asked: int | None = None,
) -> Both | None:
    """Compare two entries, for both claims.

    Args:
        strata: first minus second, shape (runs, cases) for each environment; NaN is missing.
        tests: number of tests in the family that this one is corrected in.
        bounds: bounds of the differences; None if unknown.
        sides: scores of both entries, on the scale of `strata`; None if the second is a mark, the same for all seeds.
        cases: scores to compare the candidates on, if different, such as means over runs of other cases.
        clusters: cluster of each case of each environment (`samples.clustered`).
        least: share of the requested cells that must have scores of both, for either claim.
        asked: number of requested cells of `strata` (default all). Cells of cases that only other runs were asked stay
            empty.

    Returns:
        Both comparisons, or None if nothing is paired.
    """
    evolvers = compare_runs(strata, tests, bounds, sides=sides, clusters=clusters, least=least)
    candidates = compare_cases(strata if cases is None else cases, tests, bounds, clusters=clusters)
    if evolvers is None or candidates is None:
        return None
    enough = evolvers.covered if asked is None else covered(evolvers.cases, asked, least)
    return Both(replace(evolvers, covered=enough), replace(candidates, covered=enough), sides is None)


def claims(family: Sequence[Both]) -> list[tuple[Claim, Claim]]:
    """Return the claims of evolvers and of candidates, with p-values corrected over the family for each claim apart."""
    evolvers = holm([both.evolvers.p if both.evolvers.enough else None for both in family])
    candidates = holm([both.candidates.p for both in family])
    tests = len(family)
    return [
        (of_evolvers(both.evolvers, p, tests), _claim(both.candidates, p_cases, both.candidates.untold))
        for both, p, p_cases in zip(family, evolvers, candidates, strict=True)
    ]


def of_evolvers(compared: Comparison, p: float | None, tests: int = 1) -> Claim:
    """Return the claim about evolvers; without a verdict for few runs, and for seeds that all agree.

    Args:
        compared: the comparison with runs as the sample.
        p: its corrected p-value.
        tests: number of tests in its family.
    """
    few = None if compared.enough else Unknown.FEW_SEEDS
    # An interval that leaves out 0 would contradict a verdict that is not given.
    shown = replace(compared, interval=None, p=None, mde=None) if few else compared
    claim = _claim(shown, None if few else p, compared.untold or few)
    if claim.verdict in (Verdict.BETTER, Verdict.WORSE) or claim.because in (Unknown.MISSING, Unknown.FEW_CLUSTERS):
        return claim
    needed = seeds_to_decide(compared, tests)
    more = None if needed is None else needed - math.ceil(compared.runs / compared.tasksets)
    return claim.model_copy(update={"more_seeds": more if more is not None and more > 0 else None})


def _claim(compared: Comparison, p: float | None, untold: Unknown | None) -> Claim:
    """Return a claim whose interval has the level at which Holm's correction tests it, so it agrees with the verdict."""
    corrected = compared.interval
    if p is not None and compared.p and p > compared.p and compared.model is not None:
        corrected = compared.interval_at(LEVEL * compared.p / p)
    return Claim(
        unit=compared.unit,
        ci=corrected,
        freedom=compared.freedom,
        p=compared.p,
        p_holm=p,
        mde=compared.mde,
        verdict=verdict(compared.difference, p, LEVEL, untold=untold),
        clusters=compared.clusters,
        because=untold,
    )
