from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heredity.analysis.ranking import competition_ranks, group_means, normalised_score, rank_scores, standings

PAPER = Path(__file__).parents[2].parent / "shared" / "data" / "core16_paper_results.csv"
ENTRIES = ("gpt-5.5", "claude-opus-4.7", "minimax-m3", "deepseek-v4-pro", "random")
SYNTHESIS = ("racing", "doorkey", "keycorridor", "fourrooms", "obstructedmaze")

scores_strategy = st.lists(st.one_of(st.integers(-3, 3).map(float), st.just(float("nan"))), min_size=1, max_size=8)


@pytest.fixture
def paper() -> tuple[dict[str, dict[str, float | None]], dict[str, str]]:
    if not PAPER.exists():
        pytest.skip(f"the paper's table is not at {PAPER}")
    with PAPER.open() as file:
        rows = list(csv.DictReader(file))
    scores = {row["environment"]: {entry: float(row[entry]) for entry in ENTRIES} for row in rows}
    return scores, {row["environment"]: row["family"] for row in rows}


def test_the_papers_aggregates_come_out_of_the_papers_returns(paper):
    scores, families = paper
    table = standings(scores, ENTRIES, families)
    assert [round(table[e].rank_score, 3) for e in ENTRIES] == [0.891, 0.750, 0.531, 0.359, 0.109]
    assert [(table[e].wins, table[e].top2) for e in ENTRIES] == [(9, 16), (5, 12), (1, 3), (1, 1), (0, 0)]
    assert all(table[e].present == 16 and table[e].absent == 0 for e in ENTRIES)


def test_family_scores_average_to_the_suite_score_when_families_are_equal(paper):
    scores, families = paper
    for standing in standings(scores, ENTRIES, families).values():
        assert len(standing.family_scores) == 4
        assert np.mean(list(standing.family_scores.values())) == pytest.approx(standing.rank_score)


def test_the_papers_group_means_come_out_of_the_papers_returns(paper):
    scores, _ = paper
    groups = {name: "synthesis" if name in SYNTHESIS else "tuning" for name in scores}
    means = group_means(scores, groups, "random")
    assert [round(means["synthesis"][e], 2) for e in ENTRIES[:-1]] == [0.98, 1.00, 0.19, 0.03]
    assert [round(means["tuning"][e], 2) for e in ENTRIES[:-1]][2] == 0.83
    assert "random" not in means["synthesis"]


def test_equal_scores_share_the_better_rank_and_the_next_rank_skips():
    assert competition_ranks([3.0, 5.0, 3.0, 1.0]).tolist() == [2.0, 1.0, 2.0, 4.0]
    assert rank_scores([3.0, 5.0, 3.0, 1.0]).tolist() == pytest.approx([2 / 3, 1.0, 2 / 3, 0.0])


def test_a_missing_score_gets_no_rank_and_shrinks_the_field():
    points = rank_scores([2.0, np.nan, 1.0])
    assert points[[0, 2]].tolist() == [1.0, 0.0]
    assert np.isnan(points[1])


def test_a_lone_score_has_nothing_to_be_ranked_against():
    assert np.isnan(rank_scores([4.0, np.nan])).all()


def test_a_score_that_is_absent_never_helps_its_entry():
    scores = {"x": {"a": 1.0, "b": 0.0, "r": -1.0}, "y": {"a": None, "b": 0.0, "r": -1.0}, "z": {"b": 0.0, "r": -1.0}}
    table = standings(scores, ["a", "b", "r"], {"x": "f", "y": "g", "z": "g"})
    assert (table["a"].present, table["a"].absent) == (1, 2)
    assert (table["a"].rank_score, table["a"].at_best) == (pytest.approx(1 / 3), 1.0)
    assert table["a"].family_scores == {"f": 1.0, "g": 0.0}
    assert table["b"].rank_score == table["b"].at_best == pytest.approx((0.5 + 1.0 + 1.0) / 3)


def test_an_environment_that_nobody_has_a_score_in_is_left_out():
    table = standings({"x": {"a": 1.0, "b": 0.0}, "y": {"a": None}}, ["a", "b"], {"x": "f", "y": "f"})
    assert (table["a"].rank_score, table["b"].rank_score) == (1.0, 0.0)


@given(
    st.lists(
        st.lists(st.one_of(st.none(), st.integers(-3, 3).map(float)), min_size=3, max_size=3), min_size=1, max_size=5
    )
)
def test_losing_a_score_never_raises_a_rank_score(rows):
    scores = {str(i): dict(zip("abc", row, strict=True)) for i, row in enumerate(rows)}
    before = standings(scores, "abc", {})["a"].rank_score
    for name, row in scores.items():
        if row["a"] is not None and any(row[e] is not None for e in "bc"):
            after = standings({**scores, name: {**row, "a": None}}, "abc", {})["a"].rank_score
            assert after <= before + 1e-12


def test_standings_of_no_environments_are_unknown():
    assert standings({}, ["a"], {})["a"].rank_score is None


@pytest.mark.parametrize(
    ("score", "random", "best", "expected"),
    [(5, 0, 10, 0.5), (-3, 0, 10, 0.0), (12, 0, 10, 1.0), (1, 2, 1, 0.0), (None, 0, 1, None), (1, None, 1, None)],
)
def test_normalised_scores_lie_between_random_and_best(score, random, best, expected):
    assert normalised_score(score, random, best) == expected


@given(scores_strategy)
def test_ranks_depend_on_order_only(scores):
    values = np.array(scores)
    np.testing.assert_array_equal(competition_ranks(values), competition_ranks(np.exp(values) * 7 - 2))


@given(scores_strategy, st.randoms(use_true_random=False))
def test_ranks_follow_a_reordering_of_the_entries(scores, random):
    order = list(range(len(scores)))
    random.shuffle(order)
    np.testing.assert_array_equal(competition_ranks(np.array(scores)[order]), competition_ranks(scores)[order])


@given(scores_strategy)
def test_rank_scores_lie_in_the_unit_interval_and_someone_is_first(scores):
    points = rank_scores(scores)
    ranked = points[~np.isnan(points)]
    assert ((ranked >= 0) & (ranked <= 1)).all()
    if ranked.size:
        assert ranked.max() == 1.0
