from __future__ import annotations

import json
from pathlib import Path

import pytest

from heredity._core.errors import ConfigError
from heredity.session.schedule import Schedule, draw_plan, read_plan


def test_every_task_is_in_one_batch_of_each_epoch() -> None:
    plan = draw_plan(Schedule(batch_size=3, epochs=2), 8, seed=1)
    assert [len(b.tasks) for b in plan.batches] == [3, 3, 2] * 2
    assert [b.epoch for b in plan.batches] == [1, 1, 1, 2, 2, 2]
    assert [b.number for b in plan.batches] == [1, 2, 3, 4, 5, 6]
    for epoch in (1, 2):
        tasks = [t for b in plan.batches if b.epoch == epoch for t in b.tasks]
        assert sorted(tasks) == list(range(8))


def test_the_seed_alone_decides_the_batches() -> None:
    schedule = Schedule(batch_size=4)
    assert draw_plan(schedule, 16, 5) == draw_plan(schedule, 16, 5)
    assert draw_plan(schedule, 16, 5).batches != draw_plan(schedule, 16, 6).batches


def test_epochs_have_orders_of_their_own() -> None:
    plan = draw_plan(Schedule(batch_size=16, epochs=2), 16, 0)
    halves = draw_plan(Schedule(batch_size=4, epochs=2), 16, 0).batches
    assert plan.batches[0].tasks == plan.batches[1].tasks
    assert [b.tasks for b in halves[:4]] != [b.tasks for b in halves[4:]]


@pytest.mark.parametrize(
    ("assess", "started", "points"),
    [(1, 4, [0, 1, 2, 3, 4]), (2, 5, [0, 2, 4, 5]), (0, 6, [0, 3, 6]), (0, 2, [0, 2]), (9, 4, [0, 4]), (1, 0, [0])],
)
def test_the_first_and_the_last_snapshot_are_always_judged(assess: int, started: int, points: list[int]) -> None:
    assert draw_plan(Schedule(batch_size=2, epochs=2, assess=assess), 6, 0).assessed(started) == points


def test_a_saved_plan_is_followed_by_another_suite(tmp_path: Path) -> None:
    schedule = Schedule(batch_size=3, epochs=2, gate=True, canaries=2)
    plan = draw_plan(schedule, 8, 7)
    (tmp_path / "plan.json").write_text(json.dumps(plan.to_json()))
    assert read_plan(tmp_path / "plan.json", schedule, 8) == plan


def test_a_saved_plan_of_something_else_is_refused(tmp_path: Path) -> None:
    path, schedule = tmp_path / "plan.json", Schedule(batch_size=3)
    data = draw_plan(schedule, 8, 7).to_json()
    path.write_text(json.dumps(data))
    with pytest.raises(ConfigError, match="batch_size = 3, but this run has 4"):
        read_plan(path, Schedule(batch_size=4), 8)
    with pytest.raises(ConfigError, match="train = 8, but this run has 9"):
        read_plan(path, schedule, 9)
    data["batches"][0]["tasks"] = [0, 1, 2]
    data["batches"][1]["tasks"] = [0, 1, 2]
    path.write_text(json.dumps(data))
    with pytest.raises(ConfigError, match="was modified"):
        read_plan(path, schedule, 8)
    path.write_text('{"digest": "a"}')
    with pytest.raises(ConfigError, match="not a saved plan"):
        read_plan(path, schedule, 8)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_plan(tmp_path / "none.json", schedule, 8)


def test_a_schedule_that_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"schedule.batch_size is 9, but there are only 8 train tasks"):
        draw_plan(Schedule(batch_size=9), 8, 0)
    with pytest.raises(ConfigError, match=r"schedule.epochs is 0"):
        Schedule(epochs=0)
    with pytest.raises(ConfigError, match=r"schedule.canaries is 9, but there are only 8 train tasks"):
        draw_plan(Schedule(gate=True, canaries=9), 8, 0)


def test_what_is_done_with_batches_does_not_change_them() -> None:
    plain = draw_plan(Schedule(batch_size=3), 8, 1)
    gated = draw_plan(Schedule(batch_size=3, updates=2, gate=True, canaries=2, assess=0), 8, 1)
    assert gated.digest == plain.digest
    assert len(gated.canaries) == 2
    assert plain.canaries == ()
