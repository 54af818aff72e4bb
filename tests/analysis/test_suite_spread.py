from __future__ import annotations

import numpy as np
import pytest

from heredity._core.ids import generator
from heredity.analysis.statistics import interquartile_mean
from heredity.analysis.suite_results import THRESHOLDS, normalised_runs, profile, suite_spread
from heredity.analysis.suite_table import REFERENCE, Cell, TasksetScores

ENTRIES = ["strong", "weak", REFERENCE]


def taskset(runs: int, levels: tuple[float, float] = (2.0, 1.0), seed: int = 0) -> TasksetScores:
    rng = generator(seed, "spread")
    cases = rng.normal(0.0, 0.3, 12)
    scores = {e: level + rng.normal(0.0, 0.2, (runs, 1)) + cases for e, level in zip(ENTRIES, levels, strict=False)}
    return TasksetScores("t", "", "", {e: Cell([], s) for e, s in scores.items()}, {REFERENCE: cases}, returns=True)


@pytest.mark.parametrize("runs", [1, 3, 5])
def test_of_few_runs_nobody_can_tell(runs):
    assert suite_spread([taskset(runs)], ENTRIES) is None


def test_three_runs_on_each_of_two_tasksets_are_enough():
    assert suite_spread([taskset(3), taskset(3, seed=1)], ENTRIES) is not None


def test_who_is_clearly_better_is_first_in_every_draw_and_who_is_alike_is_not():
    clear = suite_spread([taskset(8)], ENTRIES)
    assert (clear["strong"].p_best, clear["strong"].rank, clear["weak"].rank) == (1.0, (1.0, 1.0), (2.0, 2.0))
    close = suite_spread([taskset(8, (1.0, 1.0))], ENTRIES)
    assert 0.0 < close["strong"].p_best < 1.0
    assert close["strong"].p_best + close["weak"].p_best == pytest.approx(1.0)
    assert close["strong"].rank == (1.0, 2.0)


def test_the_scale_of_normalised_scores_is_drawn_too():
    spread = suite_spread([taskset(8)], ENTRIES)
    # The best evolver has 1 in every draw if only runs are drawn and the scale is left alone; its runs lie below and above.
    assert spread["strong"].iqm[0] < 1.0
    assert spread["weak"].iqm[1] - spread["weak"].iqm[0] > 0.05


def test_six_tasksets_are_drawn_and_fewer_are_not():
    same = [taskset(6, (2.0, 1.0), seed) for seed in range(5)]
    reverse = taskset(6, (1.0, 2.0), 9)
    few, many = suite_spread([*same[:4], reverse], ENTRIES), suite_spread([*same, reverse], ENTRIES)
    assert few["strong"].rank_score[0] == few["strong"].rank_score[1]
    assert many["strong"].rank_score[0] < many["strong"].rank_score[1]


def test_profiles_fall_from_all_runs_to_none_and_count_what_is_above():
    assert profile(np.array([0.2, 0.6, 1.0, 1.0])) == [
        np.mean([x < score for score in (0.2, 0.6, 1.0, 1.0)]) for x in THRESHOLDS
    ]


def test_runs_that_nearly_agree_leave_room_for_those_that_were_not_seen():
    """Fails where intervals hold only what was drawn: eight runs that agree do not exclude one failure in twenty."""
    level = taskset(8).references[REFERENCE]
    alike = [
        TasksetScores("t", "", "", {e: Cell([], np.tile(level + x, (8, 1))) for e, x in (("strong", 2.0), ("weak", 1.0))},
                      {REFERENCE: level}, returns=True)
        for _ in range(3)
    ]  # fmt: skip
    few, many = suite_spread(alike[:1], ENTRIES), suite_spread(alike, ENTRIES)
    unseen = 1.0 - 0.025 ** (1.0 / 24)
    # If the strong one fell to the reference in as many runs as may not have been seen, the weak one would be as much nearer.
    assert many["weak"].iqm == pytest.approx((0.5, 0.5 / (1.0 - unseen)), abs=0.02)
    assert few["weak"].iqm[1] > many["weak"].iqm[1]
    at = THRESHOLDS.index(0.25)
    assert many["weak"].profile[at][0] < 0.95
    assert many["weak"].profile[at][1] == pytest.approx(1.0)


def test_what_was_not_seen_of_many_runs_is_little():
    wide, narrow = (suite_spread([taskset(runs)], ENTRIES)["weak"].iqm for runs in (8, 200))
    assert narrow[1] - narrow[0] < 0.3 * (wide[1] - wide[0])


def test_missing_scores_and_entries_are_drawn_around():
    rng = generator(1, "holes")
    whole, other = taskset(6), taskset(6, seed=2)
    table = whole.cells["strong"].scores.copy()
    table[rng.random(table.shape) < 0.3] = np.nan
    holes = TasksetScores("t", "", "", {"strong": Cell([], table)}, whole.references, returns=True)
    spread = suite_spread([holes, other], ENTRIES)
    assert np.isfinite([*spread["weak"].rank_score, *spread["strong"].iqm, *spread["weak"].iqm]).all()
    assert spread["weak"].rank_score[1] <= 0.5


def test_an_iqm_lies_in_its_interval_where_its_owner_has_no_score_and_nobody_beats_the_reference():
    """Fails where the mean leaves out a taskset that the interval counts as 0."""
    beaten, unbeaten = taskset(8), taskset(8, (-1.0, -2.0), 3)
    without = TasksetScores("t", "", "", {"weak": unbeaten.cells["weak"]}, unbeaten.references, returns=True)
    known = np.concatenate(normalised_runs([beaten, without], "strong"))
    low, high = suite_spread([beaten, without], ENTRIES)["strong"].iqm
    assert low <= interquartile_mean(known) <= high
    assert (known == 0.0).sum() == 8
