"""How much must be known for a choice or a verdict, and what a mean could be."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from heredity._core.errors import ConfigError
from heredity.analysis.paired import compare_cases, verdict
from heredity.analysis.run_results import gain
from heredity.experiments.config import resolve
from heredity.protocols.post_training.protocol import selected as best_checkpoint
from heredity.results.base import Unknown, covered, covers
from heredity.results.run import HeldOut, Reference, Verdict
from heredity.session.bench import Evolved


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
    assert verdict(compared.difference, compared.p, untold=compared.untold) == Verdict.BETTER
    assert fewer.untold is Unknown.MISSING
    assert verdict(fewer.difference, fewer.p, untold=fewer.untold) == Verdict.CANNOT_TELL


@pytest.mark.parametrize(("least", "told"), [(0.9, False), (0.8, True), (0.75, True)])
def test_how_much_must_be_known_is_what_the_run_asks_for(least: float, told: bool) -> None:
    after = HeldOut(scores=[*[1.0] * 8, None, None], mean=1.0, ci=None, n=8, failures=0, missing=2)
    reference = Reference(name="initial", heldout_mean=0.0, heldout_scores=[0.0] * 10)
    judged = gain(after, reference, returns=False, coverage=least)
    assert judged is not None
    assert (judged.verdict, judged.because) == (
        (Verdict.BETTER, None) if told else (Verdict.CANNOT_TELL, Unknown.MISSING)
    )


@pytest.mark.parametrize("coverage", [0.0, 1.1, -0.5])
def test_a_share_that_is_none_is_refused(coverage: float) -> None:
    with pytest.raises(ConfigError, match=r"views\.coverage"):
        resolve({"run": {"tasksets": ["gymnasium/CartPole-v1"]}, "views": {"coverage": coverage}})


def _ends(scores: tuple[float | None, ...]) -> Any:
    return SimpleNamespace(status="ok", submit_id=1, candidate="c", feedback=lambda: _feedback(scores))


def _feedback(scores: tuple[float | None, ...]) -> Any:
    known = np.array([math.nan if score is None else score for score in scores])
    return SimpleNamespace(scores=known, mean=float(np.nanmean(known)))


def test_judges_select_by_what_the_run_asks_for() -> None:
    submissions = [_ends((1.0, 1.0, 1.0, None))]
    asked = {least: best_checkpoint(Evolved(submissions, [], "finished", coverage=least)) for least in (0.9, 0.75)}
    assert asked == {0.9: None, 0.75: "c"}
