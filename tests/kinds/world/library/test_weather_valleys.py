"""What the deeds of `weather_valleys` do on a day and on the next."""

from __future__ import annotations

import itertools

from heredity.kinds.world.contract import Action
from heredity.library.worlds.weather_valleys.dynamics import DYNAMICS, VALLEYS, Air, day
from heredity.library.worlds.weather_valleys.levels import LEVELS

NORTH, SOUTH = 0, 1


def test_seeding_waters_a_valley_and_drives_vapour_off_the_next_day() -> None:
    first = day(Air(0, 0, 3, 0, 0), "seed", NORTH, 0)
    assert (first.air.north, first.air.above_north) == (2, 0)
    second = day(first.air._replace(above_north=2), "wait", NORTH, 0)
    assert (second.air.above_north, second.air.above_south) == (1, 1)


def test_fires_dry_a_valley_and_draw_vapour_in_the_next_day() -> None:
    first = day(Air(3, 0, 0, 2, 0), "heat", NORTH, 0)
    assert (first.air.north, first.air.above_north) == (1, 1)
    second = day(first.air, "wait", NORTH, 0)
    assert (second.air.above_north, second.air.above_south) == (2, 1)


def test_under_a_veil_nothing_dries_and_the_next_day_twice_as_much() -> None:
    first = day(Air(3, 3, 0, 0, 0), "veil", SOUTH, 0)
    assert first.air[:2] == (2, 3)
    assert day(first.air, "wait", NORTH, 0).air[:2] == (1, 1)


def test_too_much_vapour_comes_down_at_once_and_most_runs_off() -> None:
    night = day(Air(0, 0, 3, 3, 0), "wait", NORTH, 1)
    assert (night.air, night.bursts) == (Air(1, 0, 0, 3, 0), 1)


def test_the_bound_is_the_best_of_all_courses_of_four_days() -> None:
    level = {"air": [0, 1, 3, 2], "worth": [2, 3], "winds": [3, 1, 0, 2], "usual": [0] * 4, "steps": 4}
    deeds = [Action.of("wait"), *(Action.of(d, valley=v) for d in ("seed", "heat", "veil", "balloon") for v in VALLEYS)]
    totals = list[float]()
    for course in itertools.product(deeds, repeat=4):
        state = DYNAMICS.start(level)
        totals.append(sum(DYNAMICS.act(state, action).reward for action in course))
    assert LEVELS.upper_bound(level).value == max(totals) > 0
