from __future__ import annotations

from typing import Any

import pytest

from heredity.analysis.worlds import GROUPS, world_table

MAZE, REEF = ("binary", "full", "aligned"), ("accumulative", "partial", "inverse")


def rows(world: str, scores: list[list[float]], **more: Any) -> list[dict[str, Any]]:
    return [
        {"world": world, "level": f"test-{number}", "run": run, "score": score, "steps": 10, "cost_usd": 0.5, **more}
        for run, levels in enumerate(scores)
        for number, score in enumerate(levels)
    ]


def test_every_world_weighs_the_same_however_many_levels_were_played() -> None:
    table = world_table([*rows("maze", [[1.0]]), *rows("reef", [[0.0, 0.5, 0.1]])], {"maze": MAZE, "reef": REEF})
    assert table["groups"]["average"]["mean"] == pytest.approx((1.0 + 0.2) / 2)
    assert table["groups"]["binary"]["mean"] == 1.0
    assert table["groups"]["partial"]["mean"] == pytest.approx(0.2)
    assert table["worlds"]["reef"]["mean"] == pytest.approx(0.2)
    assert set(table["groups"]) == {*GROUPS, "average"}


def test_the_standard_deviation_is_that_of_the_average_over_runs() -> None:
    given = [*rows("maze", [[1.0, 1.0], [0.0, 0.0], [1.0, 0.0]]), *rows("reef", [[0.5], [0.5], [0.5]])]
    table = world_table(given, {"maze": MAZE, "reef": REEF})
    assert table["std"] == pytest.approx(0.25)
    assert table["runs"] == 3
    low, high = table["groups"]["average"]["interval"]
    assert low < 0.5 < high


def test_one_run_has_no_standard_deviation_and_a_run_without_a_world_is_left_out_of_it() -> None:
    assert world_table(rows("maze", [[1.0, 0.0]]), {"maze": MAZE})["std"] is None
    given = [*rows("maze", [[1.0], [0.0], [0.5]]), *rows("reef", [[0.0], [0.0]])]
    assert world_table(given, {"maze": MAZE, "reef": REEF})["std"] == pytest.approx(0.3535, abs=1e-3)


def test_an_unknown_cost_stays_unknown() -> None:
    priced, unknown = rows("maze", [[1.0]]), rows("reef", [[1.0]], cost_usd=None)
    table = world_table([*priced, *unknown], {"maze": MAZE, "reef": REEF})
    assert table["cost_usd"] is None
    assert table["worlds"]["maze"]["cost_usd"] == 0.5


def test_failed_episodes_are_counted_by_their_status() -> None:
    table = world_table(
        [*rows("maze", [[1.0]], status="ok"), *rows("reef", [[0.0], [0.0]], status="act_error")],
        {"maze": MAZE, "reef": REEF},
    )
    assert table["failed"] == table["worlds"]["reef"]["failed"] == {"act_error": 2}
    assert table["worlds"]["maze"]["failed"] == {}


def test_nothing_played_is_an_empty_table() -> None:
    table = world_table([], {"maze": MAZE})
    assert table["groups"]["average"] == {"mean": None, "interval": None, "worlds": 0}
    assert (table["steps"], table["episodes"], table["worlds"]) == (None, 0, {})
