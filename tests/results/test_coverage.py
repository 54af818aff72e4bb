"""How much must be known for a choice or a verdict, and what a mean could be."""

from __future__ import annotations

import math

import pytest

from heredity.analysis.commits import gain
from heredity.analysis.paired import compare_cases, verdict
from heredity.results.coverage import covered, covers
from heredity.results.run import HeldOut, Reference, Verdict


@pytest.mark.parametrize(
    ("attempted", "asked", "enough"),
    [(9, 10, True), (8, 10, False), (10, 10, True), (0, 0, False), (0, 10, False), (27, 30, True), (26, 30, False)],
)
def test_nine_tenths_are_enough(attempted: int, asked: int, enough: bool) -> None:
    assert covered(attempted, asked) is enough
    assert covers([1.0] * attempted + [None] * (asked - attempted)) is enough
    assert covers([1.0] * attempted + [math.nan] * (asked - attempted)) is enough


def test_who_solves_two_and_has_eight_missing_is_not_better() -> None:
    before = [1.0, 1.0, *[0.0] * 8]
    after = HeldOut(scores=[1.0, 1.0, *[None] * 8], mean=1.0, ci=None, n=2, failures=0, missing=8)
    reference = Reference(name="initial", heldout_mean=0.2, heldout_scores=list(before))
    told = gain(after, reference, returns=False)
    assert told is not None
    assert told.verdict == Verdict.CANNOT_TELL


def test_a_comparison_knows_how_much_of_it_is_known() -> None:
    differences = [[1.0, 0.9, 1.1, 1.0, 0.8, 1.2, 1.0, 0.9, 1.1, math.nan]]
    compared, fewer = compare_cases([differences]), compare_cases([[[*differences[0][:8], math.nan, math.nan]]])
    assert compared is not None
    assert fewer is not None
    assert (compared.covered, fewer.covered) == (True, False)
    assert verdict(compared.difference, compared.p, covered=compared.covered) == Verdict.BETTER
    assert verdict(fewer.difference, fewer.p, covered=fewer.covered) == Verdict.CANNOT_TELL
