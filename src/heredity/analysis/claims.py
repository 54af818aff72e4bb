"""The two claims that a difference makes: of the evolvers, over runs, and of the candidates at hand, over cases.

    both = compare(strata, tests=3)                    # before p-values are corrected
    evolvers, candidates = claims([both])[0]

All comparisons of evolvers, under any protocol, are made here, so they share one model (`docs/analysis.md`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from numpy.typing import ArrayLike

from heredity.analysis.paired import Comparison, compare_cases, compare_runs, holm, verdict
from heredity.analysis.samples import Clusters, Interval
from heredity.analysis.statistics import CONFIDENCE
from heredity.results.base import COVERAGE, Unknown, covered
from heredity.results.run import Verdict
from heredity.results.suite import Claim

LEVEL = 1.0 - CONFIDENCE
MARK_LEVEL = 0.002
"""Level of tests of evolvers against a mark that is the same for all seeds. Nothing there cancels the skew of scores, which
at 5% calls an evolver falsely better in up to one case in six."""


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
    marked: bool = False,
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
        marked: as in `Both`.
        cases: scores to compare the candidates on, if different, such as means over runs of other cases.
        clusters: cluster of each case of each environment (`samples.clustered`).
        least: share of the requested cells that must have scores of both, for either claim.
        asked: number of requested cells of `strata` (default all). Cells of cases that only other runs were asked stay
            empty.

    Returns:
        Both comparisons, or None if nothing is paired.
    """
    # Against a mark the level is lower, as if the family had more tests.
    of_evolvers = tests * round(LEVEL / MARK_LEVEL) if marked else tests
    evolvers = compare_runs(strata, of_evolvers, bounds, mark=marked, clusters=clusters, least=least)
    candidates = compare_cases(strata if cases is None else cases, tests, bounds, clusters=clusters)
    if evolvers is None or candidates is None:
        return None
    enough = evolvers.covered if asked is None else covered(evolvers.cases, asked, least)
    return Both(replace(evolvers, covered=enough), replace(candidates, covered=enough), marked)


def claims(family: Sequence[Both]) -> list[tuple[Claim, Claim]]:
    """Return the claims of evolvers and of candidates, with p-values corrected over the family for each claim apart."""
    evolvers = holm([both.evolvers.p if both.evolvers.enough else None for both in family])
    candidates = holm([both.candidates.p for both in family])
    return [
        (
            of_evolvers(both.evolvers, p, marked=both.marked),
            _claim(both.candidates, p_cases, LEVEL, both.candidates.untold),
        )
        for both, p, p_cases in zip(family, evolvers, candidates, strict=True)
    ]


def of_evolvers(compared: Comparison, p: float | None, *, marked: bool) -> Claim:
    """Return the claim about evolvers; empty for few runs, and for runs equally far from a mark without bounds.

    Args:
        compared: the comparison with runs as the sample.
        p: its corrected p-value.
        marked: as in `Both`.
    """
    interval = compared.interval
    if not compared.enough or (marked and interval is None):
        few = Unknown.ALIKE if compared.enough else Unknown.FEW_RUNS
        return _claim(replace(compared, p=None), None, LEVEL, compared.untold or few)
    claim = _claim(compared, p, MARK_LEVEL if marked else LEVEL, compared.untold)
    within = marked and interval is not None and interval[0] <= 0.0 <= interval[1]
    conclusive = claim.verdict in (Verdict.BETTER, Verdict.WORSE)
    return claim.model_copy(update={"verdict": Verdict.WITHIN_NOISE}) if within and conclusive else claim


def _claim(compared: Comparison, p: float | None, level: float, untold: Unknown | None) -> Claim:
    return Claim(
        unit=compared.unit,
        ci=compared.interval,
        p=compared.p,
        p_holm=p,
        mde=compared.mde,
        verdict=verdict(compared.difference, p, level, untold=untold),
        clusters=compared.clusters,
        because=untold,
    )
