from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.protocols.harness_evolution.analysis import harness_reference as reference
from tests.protocols.harness_evolution.analysis.harness_rows import Row, judged, row, trained

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.analysis.paired import compare_paired, holm
from heredity.protocols.harness_evolution.analysis import harness_metrics, rows_of, view_kind
from heredity.protocols.harness_evolution.task_results import BestValidation, Forgetting, Gain, TaskMetrics

POINTS = {"E_0": 0, "E_2": 2, "E_10": 10}
VIEWS = ("update_validation", "replay", "id_test", "ood_test")


def metrics(rows: list[Row], **given: Any) -> TaskMetrics:
    return harness_metrics(rows_of(rows), **given)


@st.composite
def runs(draw: st.DrawFn) -> list[Row]:
    """Draw a run: views with points and roles, training, updates, missing scores, errors, costs, rows that are there twice."""
    tasks = [f"t{i}" for i in range(draw(st.integers(1, 7)))]
    domains = {t: draw(st.sampled_from(["code", "text", "data"])) for t in tasks}
    scores = st.sampled_from([0.0, 0.5, 1.0, 1.0, None])
    costs = st.fixed_dictionaries({}, optional={"tokens": st.integers(0, 9), "tool_calls": st.integers(0, 3)})
    rows: list[Row] = []

    def add(task: str | None, score: float | None, view: str, **fields: Any) -> None:
        about = {"domain": domains.get(task or "", "code"), "source_benchmark": "s" + domains.get(task or "", "")}
        error = draw(st.sampled_from([None, None, "", "boom"]))
        rows.append(row(task, score, view, attributes=about, cost=draw(costs), error=error, **fields))

    for batch in range(1, draw(st.integers(0, 3)) + 1):
        for task in draw(st.lists(st.sampled_from(tasks), max_size=4, unique=True)):
            add(task, draw(scores), "train", train_batch_index=batch * 3, global_update_index=batch)
        add(None, None, "agent_update", train_batch_index=batch * 3, global_update_index=batch)
    for view in VIEWS:
        final = view.endswith("test")
        for name, batch in {"A_0": 10, "A_T": 10}.items() if final else POINTS.items():
            if draw(st.integers(0, 5)):
                role = name if final else None
                for task in draw(st.lists(st.sampled_from(tasks), unique=True)):
                    point = "E_T" if final else name
                    add(
                        task, draw(scores), view, evaluation_point_id=point, baseline_role=role, train_batch_index=batch
                    )
    again = draw(st.lists(st.integers(0, max(len(rows) - 1, 0)), max_size=4)) if rows else []
    return rows + [{**rows[i], "score": draw(scores)} for i in again]


def close(actual: Any, expected: Any) -> bool:
    return actual == expected if actual is None or expected is None else actual == pytest.approx(expected, abs=1e-12)


@given(runs())
def test_levels_are_those_of_the_definitions_and_views_never_pool_snapshots(rows: list[Row]) -> None:
    run_metrics, kept = metrics(rows), reference.last_of_each(rows)
    assert run_metrics.rows.read == len(rows)
    assert run_metrics.rows.duplicates == len(rows) - len(kept)
    judged_rows = [r for r in kept if r["mode"] not in ("train", "update")]
    assert run_metrics.views.keys() == {r["view_name"] for r in judged_rows}
    for view, table in run_metrics.views.items():
        here = [r for r in judged_rows if r["view_name"] == view]
        assert table.snapshots.keys() == {reference.label(r) for r in here}
        for name, level in table.snapshots.items():
            batch = next(r["train_batch_index"] for r in here if reference.label(r) == name)
            rollouts = reference.of(kept, view, name)
            counted = reference.replayed(kept, view, name, batch) if view == "replay" else rollouts
            assert level.attempted == len(counted)
            assert level.attempted + level.untrained + level.missing == table.tasks
            assert level.untrained >= len(rollouts) - len(counted)
            assert level.untrained == 0 or view == "replay"
            assert level.errors == sum(bool(r["error"]) for r in counted.values())
            # A drawn duplicate changes the score and leaves the verifier's word, as a broken record might.
            for key, expected in (
                ("perf", reference.perf(counted)),
                ("sr", reference.success_rate(told(counted))),
                ("execution_success", reference.success_rate(told(counted), clean=True)),
            ):
                assert close(getattr(level, key).macro, expected[0]), key
                assert close(getattr(level, key).micro, expected[1]), key
            mine = [r for r in here if reference.label(r) == name]
            for key in ("tokens", "tool_calls"):
                assert getattr(level.costs, key).model_dump() == reference.cost(mine, key)


def told(results: dict[str, Row]) -> dict[str, Row]:
    """Return results with the success that the score tells where the record says nothing."""
    return {t: r if r["success"] is not None else {**r, "success": r["score"] == 1.0} for t, r in results.items()}


@given(runs())
def test_gains_are_those_of_the_definitions(rows: list[Row]) -> None:
    run_metrics, kept = metrics(rows), reference.last_of_each(rows)
    for view, uvg in run_metrics.uvg.items():
        chain = [p for p in POINTS if p in run_metrics.views[view].snapshots]
        assert [(g.before, g.after) for g in uvg.prev] == list(pairwise(chain))
        assert [g.after for g in uvg.base] == (chain[1:] if chain[:1] == ["E_0"] else [])
        for gain in uvg.prev + uvg.base:
            same_difference(gain, reference.of(kept, view, gain.before), reference.of(kept, view, gain.after))
    for gain in run_metrics.transfer:
        if gain.metric in ("IDG", "OODG"):
            assert (gain.before, gain.after) == ("A_0", "A_T") or gain.of == "best_validation"
        before, after = (
            reference.replayed(kept, gain.view, getattr(gain, side), POINTS.get(getattr(gain, side), 10))
            if gain.metric == "FR"
            else reference.of(kept, gain.view, getattr(gain, side))
            for side in ("before", "after")
        )
        same_difference(gain, before, after)
        if gain.metric == "FR":
            for name, drop in zip(("macro", "micro"), reference.paired(after, before), strict=True):
                assert close(getattr(gain.forgetting, name), None if drop is None else max(0.0, drop))


def same_difference(gain: Gain, before: dict[str, Row], after: dict[str, Row]) -> None:
    assert gain.tasks == len(before.keys() & after.keys())
    assert gain.unpaired == len(before.keys() ^ after.keys())
    for name, expected in zip(("macro", "micro"), reference.paired(before, after), strict=True):
        gap = getattr(gain, name)
        assert close(gap and gap.difference, expected)


@given(runs())
def test_fix_and_forget_are_those_of_the_definitions(rows: list[Row]) -> None:
    run_metrics, kept = metrics(rows), reference.last_of_each(rows)
    for view, replay in run_metrics.replay.items():
        solved = {p: told(reference.replayed(kept, view, p, batch)) for p, batch in POINTS.items()}
        for delta in replay.delta:
            before, after = solved[delta.before], solved[delta.after]
            assert delta.fixed == reference.fixed(before, after)
            assert delta.forgotten == reference.fixed(after, before)
        if replay.since_base is None:
            assert "E_0" not in run_metrics.views[view].snapshots
            continue
        base = solved["E_0"]
        failed = sum(not r["success"] for r in base.values())
        for snapshot in replay.since_base.snapshots:
            after = solved[snapshot.snapshot]
            assert close(snapshot.fix, reference.fixed(base, after) / failed if failed else None)
            done = len(base) - failed
            assert close(snapshot.forget, reference.fixed(after, base) / done if done else None)
        by_source = replay.by_source.values()
        for i, delta in enumerate(replay.delta):
            assert delta.fixed == sum(group.delta[i].fixed for group in by_source)


@given(runs())
def test_costs_and_curves_are_those_of_the_definitions(rows: list[Row]) -> None:
    run_metrics, kept = metrics(rows), reference.last_of_each(rows)
    for key in ("tokens", "tool_calls", "cost_usd"):
        assert getattr(run_metrics.costs.rollout, key).model_dump() == reference.cost(
            [r for r in kept if r["mode"] != "update"], key
        )
        assert getattr(run_metrics.costs.update, key).model_dump() == reference.cost(
            [r for r in kept if r["mode"] == "update"], key
        )
    curve = run_metrics.curves.train
    scored = [r for r in kept if r["mode"] == "train" and r["score"] is not None]
    assert sum(n for n, s in zip(curve.tasks, curve.source, strict=True) if s == "all") == len(scored)
    points = zip(curve.source, curve.train_batch_index, curve.tasks, curve.perf, curve.errors, strict=True)
    for source, batch, tasks, perf, errors in points:
        here = [r for r in scored if r["train_batch_index"] == batch]
        here = [r for r in here if source in ("all", r["attributes"]["source_benchmark"])]
        assert (tasks, errors) == (len(here), sum(bool(r["error"]) for r in here))
        assert perf == pytest.approx(sum(r["score"] for r in here) / tasks)


@settings(max_examples=25, deadline=None)
@given(runs(), st.randoms(use_true_random=False))
def test_the_same_rows_give_the_same_bytes_and_their_order_does_not_matter(rows: list[Row], shuffle: Any) -> None:
    assert metrics(rows).model_dump_json() == metrics(rows).model_dump_json()
    kept = reference.last_of_each(rows)
    shuffled = random.Random(shuffle.random()).sample(kept, len(kept))
    assert metrics(shuffled).transfer == metrics(kept).transfer


def test_a_replay_grid_says_what_became_of_each_task() -> None:
    rows = [
        *trained(1, "a", "b"),
        *trained(2, "c"),
        *judged("replay", "E_0", {"a": 1.0, "b": 0.0, "c": 0.0, "d": 1.0}, 0),
        *judged("replay", "E_1", {"a": 0.0, "c": 1.0}, 1, error="boom"),
        *judged("replay", "E_1", {"b": None}, 1),
        *judged("replay", "E_2", {"a": 0.0, "b": 1.0, "c": 1.0}, 2),
    ]
    grid = metrics(rows).replay["replay"].grid
    assert grid.snapshots == ("E_0", "E_1", "E_2")
    assert dict(zip(grid.tasks, grid.cells, strict=True)) == {"a": "SEF", "b": "F.S", "c": "FuS", "d": "uuu"}


def test_replay_leaves_out_tasks_that_were_not_trained_yet() -> None:
    rows = [
        *trained(1, "a"),
        *trained(2, "b"),
        *judged("replay", "E_0", {"a": 1.0, "b": 1.0, "never": 1.0}, 0),
        *judged("replay", "E_1", {"a": 1.0, "b": 0.0, "never": 0.0}, 1),
        *judged("replay", "E_2", {"a": 1.0, "b": 1.0, "never": 0.0}, 2),
    ]
    run_metrics = metrics(rows)
    levels = run_metrics.views["replay"].snapshots
    assert [levels[p].attempted for p in ("E_0", "E_1", "E_2")] == [2, 1, 2]
    assert [levels[p].untrained for p in ("E_0", "E_1", "E_2")] == [1, 2, 1]
    assert [d.forgotten for d in run_metrics.replay["replay"].delta] == [0, 0]
    (forgotten,) = [t for t in run_metrics.transfer if t.metric == "FR" and t.of == "final"]
    assert forgotten.forgetting == Forgetting(macro=0.0, micro=0.0)


def test_forgetting_is_measured_on_replay_though_its_rows_have_no_roles() -> None:
    rows = [
        *trained(4, "a", "b", "c", "d"),
        *judged("replay", "E_0", dict.fromkeys("abcd", 1.0), 0),
        *judged("replay", "E_4", {"a": 1.0, "b": 0.0, "c": 0.0, "d": 0.0}, 4),
    ]
    (row,) = [t for t in metrics(rows).transfer if t.of == "final"]
    assert (row.view, row.before, row.after) == ("replay", "E_0", "E_4")
    assert row.forgetting.micro == 0.75
    assert row.micro.difference == -0.75


def test_forgetting_is_unknown_where_the_last_harness_was_not_replayed() -> None:
    rows = [
        *trained(1, "a"),
        *trained(2, "a"),
        *judged("replay", "E_0", {"a": 1.0}, 0),
        *judged("replay", "E_1", {"a": 0.0}, 1),
    ]
    assert metrics(rows).transfer == ()


def test_rows_that_a_resume_wrote_again_count_once_with_their_tokens() -> None:
    rows = judged("update_validation", "E_0", {"a": 1.0, "b": 0.0}, 0, cost={"tokens": 10})
    again = [{**rows[0]}, {**rows[1], "score": 1.0, "success": True, "cost": {"tokens": 7}}]
    run_metrics = metrics(rows + again)
    assert run_metrics.rows.model_dump(exclude={"damaged"}) == {
        "read": 4,
        "counted": 2,
        "duplicates": 2,
        "conflicting": 1,
        "duplicate_tokens": 20.0,
        "without_snapshot": 0,
    }
    assert run_metrics.views["update_validation"].snapshots["E_0"].perf.micro == 1.0
    assert run_metrics.costs.rollout.tokens.total == 17.0


def test_a_batch_attempted_before_each_of_two_updates_is_no_duplicate() -> None:
    rows = [*trained(1, "a"), {**trained(1, "a")[0], "global_update_index": 2, "score": 0.0}]
    curve = metrics(rows).curves.train
    assert curve.perf[:2] == (1.0, 0.0)
    assert curve.global_update_index[:2] == (1, 2)


def test_two_checkpoints_under_one_name_stay_apart() -> None:
    rows = [
        *judged("update_validation", "E_0", {"a": 0.0}, 0, agent_checkpoint_id="fresh"),
        *judged("update_validation", "E_0", {"a": 1.0}, 0, agent_checkpoint_id="trained"),
    ]
    levels = metrics(rows).views["update_validation"].snapshots
    assert {name: level.perf.micro for name, level in levels.items()} == {"E_0@fresh": 0.0, "E_0@trained": 1.0}


def test_final_views_keep_both_roles_of_one_point_apart() -> None:
    rows = [
        *judged("id_test", "E_T", {"a": 1.0, "b": 1.0}, 9, baseline_role="A_T"),
        *judged("id_test", "E_T", {"a": 0.0, "b": 1.0}, 9, baseline_role="A_0"),
    ]
    run_metrics = metrics(rows)
    assert [s.name for s in run_metrics.snapshots] == ["A_0", "A_T"]
    assert run_metrics.snapshots[0].train_batch_index == 0
    (gain,) = run_metrics.transfer
    assert (gain.metric, gain.micro.difference, gain.one_task) == ("IDG", 0.5, 0.5)


def test_one_flipped_task_of_35_is_within_noise_and_a_jump_is_not() -> None:
    names = [f"t{i:02d}" for i in range(35)]
    start = {t: float(i < 12) for i, t in enumerate(names)}
    rows = judged("update_validation", "E_0", start, 0)
    rows += judged("update_validation", "E_1", {**start, "t20": 1.0}, 1)
    rows += judged("update_validation", "E_2", {t: float(i < 32) for i, t in enumerate(names)}, 2)
    one, jump = metrics(rows).uvg["update_validation"].base
    assert one.micro.difference == pytest.approx(1 / 35) == one.one_task
    assert one.micro.verdict == "within noise"
    assert jump.micro.verdict == "better"
    low, high = jump.micro.ci
    assert 0 < low < jump.micro.difference < high


def test_the_best_snapshot_on_validation_is_the_earliest_of_equals_and_is_found_in_other_views() -> None:
    rows = [
        *judged("update_validation", "E_0", {"a": 0.0, "b": 0.0}, 0),
        *judged("update_validation", "E_1", {"a": 1.0, "b": 0.0}, 1),
        *judged("update_validation", "E_2", {"a": 0.0, "b": 1.0}, 2),
        *judged("update_validation", "E_3", {"a": 0.0, "b": 0.0}, 3),
        *judged("id_test", "E_T", {"x": 0.0}, 2, baseline_role="A_0"),
        *judged("id_test", "E_T", {"x": 0.0}, 2, baseline_role="A_T"),
        *judged("id_test", "E_T", {"x": 1.0}, 1, baseline_role="best-validation"),
    ]
    run_metrics = metrics(rows)
    assert run_metrics.best_validation == BestValidation(view="update_validation", snapshot="E_1", selection_perf=0.5)
    gains = {t.of: (t.after, t.micro.difference) for t in run_metrics.transfer}
    assert gains == {"final": ("A_T", 0.0), "best_validation": ("best-validation", 1.0)}


def test_where_no_update_helped_the_base_is_the_best() -> None:
    rows = [
        *judged("update_validation", "E_0", {"a": 1.0}, 0),
        *judged("update_validation", "E_1", {"a": 0.0}, 1),
        *judged("id_test", "E_T", {"x": 1.0}, 1, baseline_role="A_0"),
        *judged("id_test", "E_T", {"x": 0.0}, 1, baseline_role="A_T"),
    ]
    gains = {t.of: (t.before, t.after) for t in metrics(rows).transfer}
    assert gains == {"final": ("A_0", "A_T"), "best_validation": ("A_0", "A_0")}


def test_verdicts_are_corrected_for_how_many_points_were_looked_at() -> None:
    names = [f"t{i}" for i in range(9)]
    rows = judged("update_validation", "E_0", dict.fromkeys(names, 0.0), 0)
    for i in range(1, 5):
        rows += judged("update_validation", f"E_{i}", {t: float(n < 5 + i) for n, t in enumerate(names)}, i)
    gains = [gain.micro for gain in metrics(rows).uvg["update_validation"].base]
    assert all(gain.p < 0.05 for gain in gains)
    assert [gain.p_holm for gain in gains] == holm([gain.p for gain in gains])
    assert gains[-1].p == pytest.approx(2 / 2**9), "nothing varies, so signs are all there is to go by"
    assert [gain.verdict for gain in gains] == ["better"] * 4


def test_points_without_a_batch_are_in_the_order_of_their_numbers() -> None:
    rows = [r for p in ("E_10", "E_0", "E_9") for r in judged("update_validation", p, {"a": 1.0})]
    gains = metrics(rows).uvg["update_validation"].prev
    assert [(g.before, g.after) for g in gains] == [("E_0", "E_9"), ("E_9", "E_10")]


def test_a_resumed_judgement_replaces_the_old_one_though_it_says_otherwise_when_it_was_made() -> None:
    rows = judged("replay", "E_4", {"a": 0.0}, 4) + judged("replay", "E_4", {"a": 1.0}, 4, global_update_index=9)
    run_metrics = metrics(rows)
    assert (run_metrics.rows.duplicates, run_metrics.rows.conflicting) == (1, 1)
    assert run_metrics.views["replay"].snapshots["E_4"].perf.micro == 1.0


def test_curves_of_snapshots_are_by_source_group() -> None:
    rows = judged("replay", "E_0", {"a": 1.0, "b": 0.5}, 0) + judged(
        "replay", "E_3", {"a": 0.0, "b": 1.0}, 3, error="boom"
    )
    other = {"attributes": {"domain": "text", "source_benchmark": "other"}}
    curve = metrics([{**r, **other} if r["task_id"] == "b" else r for r in rows]).curves.snapshots
    points = list(zip(curve.source, curve.train_batch_index, curve.perf, curve.sr, curve.errors, strict=True))
    assert points == [
        ("all", 0, 0.75, 0.5, 0),
        ("all", 3, 0.5, 0.5, 2),
        ("bench", 0, 1.0, 1.0, 0),
        ("bench", 3, 0.0, 0.0, 1),
        ("other", 0, 0.5, 0.0, 0),
        ("other", 3, 1.0, 1.0, 1),
    ]


def test_a_second_judgement_of_the_same_harness_is_no_update() -> None:
    rows = [
        *judged("replay", "E_0", {"a": 0.0}, 0),
        *judged("replay", "E_3", {"a": 1.0}, 3),
        *judged("replay", "E_T", {"a": 1.0}, 3, baseline_role="A_0"),
        *judged("replay", "E_T", {"a": 0.0}, 3, baseline_role="A_T"),
    ]
    run_metrics = metrics(rows)
    assert [(d.before, d.after) for d in run_metrics.replay["replay"].delta] == [("A_0", "E_3")]
    assert len(run_metrics.replay["replay"].grid.cells[0]) == 4


def test_a_missing_score_is_not_a_zero() -> None:
    rows = judged("update_validation", "E_0", {"a": 1.0, "b": None}, 0)
    level = metrics(rows).views["update_validation"].snapshots["E_0"]
    assert (level.perf.micro, level.attempted, level.missing) == (1.0, 1, 1)


def test_a_gain_with_missing_scores_has_bounds_over_what_was_asked() -> None:
    names = [f"t{i}" for i in range(10)]
    rows = judged("id", "A_0", dict.fromkeys(names, 0.0), 0)
    rows += judged("id", "A_T", {**dict.fromkeys(names[:8], 1.0), "t8": 0.0, "t9": None}, 3)
    (final,) = [row for row in metrics(rows).transfer if row.of == "final"]
    assert final.micro.difference == pytest.approx(8 / 9)
    assert (final.if_missing.low, final.if_missing.high) == pytest.approx((0.8, 0.9))
    whole = [row for row in rows if row["task_id"] != "t9"]
    assert metrics(whole).transfer[0].if_missing is None


def test_a_domain_of_one_task_gives_no_interval() -> None:
    rows = judged("update_validation", "E_0", {"a": 1.0, "b": 0.0}, 0)
    rows += judged("update_validation", "E_0", {"c": 0.0}, 0, attributes={"domain": "text"})
    perf = metrics(rows).views["update_validation"].snapshots["E_0"].perf
    assert (perf.macro, perf.ci) == (0.25, None)


@pytest.mark.parametrize("tasks", [200, 300])
def test_the_limit_for_many_tasks_agrees_with_resampling(tasks: int) -> None:
    draws = np.random.default_rng(5)
    before, after = (draws.random(tasks) < p for p in (0.4, 0.55))
    names = [f"t{i}" for i in range(tasks)]
    rows = judged("update_validation", "E_0", dict(zip(names, before.astype(float).tolist(), strict=True)), 0)
    rows += judged("update_validation", "E_1", dict(zip(names, after.astype(float).tolist(), strict=True)), 1)
    (gain,) = metrics(rows).uvg["update_validation"].prev
    expected = compare_paired([after.astype(float) - before.astype(float)])
    assert expected is not None
    assert expected.interval is not None
    assert gain.micro.ci == pytest.approx(list(expected.interval), abs=0.01)
    assert gain.micro.p == pytest.approx(expected.p, abs=0.003)
    assert gain.micro.mde == pytest.approx(expected.mde)


def test_several_runs_are_never_pooled() -> None:
    rows = [{**r, "run_id": f"run-{i}"} for i in (1, 2) for r in judged("id_test", "E_0", {"a": float(i - 1)}, 0)]
    with pytest.raises(ConfigError, match="2 runs"):
        metrics(rows)
    assert metrics(rows, run_id="run-2").views["id_test"].snapshots["E_0"].perf.micro == 1.0
    with pytest.raises(UnknownNameError, match="run-1"):
        metrics(rows, run_id="run-3")


def test_a_view_can_be_told_what_it_is_for() -> None:
    rows = judged("surprise", "E_0", {"a": 0.0}, 0) + judged("surprise", "E_T", {"a": 1.0}, 1)
    assert metrics(rows).transfer == ()
    assert metrics(rows, kinds={"surprise": "ood"}).transfer[0].metric == "OODG"
    with pytest.raises(UnknownNameError, match="surprise"):
        metrics(rows, kinds={"suprise": "ood"})


def test_views_are_known_by_the_words_of_their_names() -> None:
    names = ["update_validation", "id_test", "ood_test", "train_replay", "held_out", "canary", "wide"]
    assert list(map(view_kind, names)) == ["validation", "id", "ood", "replay", "id", "canary", "other"]


def test_judged_rows_of_no_snapshot_are_left_out_and_counted() -> None:
    run_metrics = metrics([row("a", 1.0, "id_test")])
    assert run_metrics.rows.without_snapshot == 1
    assert run_metrics.views == {}


def test_no_rows_give_no_metrics() -> None:
    run_metrics = metrics([])
    assert (run_metrics.run_id, run_metrics.views, run_metrics.train_batches, run_metrics.best_validation) == (
        None,
        {},
        None,
        None,
    )


@pytest.mark.parametrize(("scale", "within"), [(1.0, True), (2.0, False)])
def test_intervals_of_shares_stay_where_shares_can_be(scale: float, within: bool) -> None:
    def judged(point: str, scores: tuple[float, ...]) -> list[Row]:
        about = [{"domain": d} for d in ("code", "code", "text", "text")]
        fields = {"evaluation_point_id": point, "train_batch_index": int(point[-1])}
        return [
            row(f"t{i}", scale * score, "update_validation", attributes=about[i], **fields)
            for i, score in enumerate(scores)
        ]

    run_metrics = metrics(judged("E_0", (0.0, 1.0, 0.0, 0.0)) + judged("E_1", (0.0, 1.0, 1.0, 1.0)))
    ci = run_metrics.views["update_validation"].snapshots["E_0"].perf.ci
    least, most = run_metrics.uvg["update_validation"].base[0].micro.ci
    # Of four scores whose range is not known, no interval is.
    assert ci == ((0.0, 1.0) if within else None)
    assert (least >= -1.0 and most <= 1.0) is within
