"""`mind_chorus`: the rule for many thoughts at once, and the least rounds, compared with going through everything."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from heredity.kinds.world.mechanics.search import shortest_plan
from heredity.kinds.world.world import world
from heredity.library.worlds.mind_chorus.dynamics import Village, read_village
from heredity.library.worlds.mind_chorus.levels import LEVELS

VERBS = ("listen", "whisper", "steady", "hush")


def village(level: str = "test-05") -> Village:
    return read_village(world("mind_chorus").level(level).data)


def test_minds_turn_by_their_temper() -> None:
    def minds(temper: str, *hears: list[int]) -> list[dict[str, object]]:
        loud = [{"name": n, "depth": 1, "temper": "stubborn", "hears": [[0, 1]]} for n in ("Bo", "Cyd")]
        return [{"name": "Ada", "depth": 1, "temper": temper, "hears": list(hears)}, *loud]

    dawn_but_ada = 0b110
    for temper, hears, turns in (
        ("follower", ([1, 1],), True),
        ("stubborn", ([1, 1], [2, 1]), False),
        ("stubborn", ([1, 1], [2, 2]), True),
        ("contrary", ([1, 3],), False),
    ):
        after = read_village({"minds": minds(temper, *hears)}).listened(dawn_but_ada)
        assert bool(after & 1) == turns, temper


@pytest.mark.parametrize("verb", VERBS)
def test_an_array_of_thoughts_is_answered_like_each_of_them(verb: str) -> None:
    minds = village()
    everything = np.arange(1 << len(minds.names))
    for index in range(len(minds.names)):
        assert minds.after(everything, verb, index).tolist() == [minds.after(int(t), verb, index) for t in everything]


@pytest.mark.parametrize("name", ["test-01", "test-05"])
def test_no_plan_is_shorter_and_none_does_with_less_influence(name: str) -> None:
    data = world("mind_chorus").level(name).data
    minds, whole = read_village(data), (1 << len(data["minds"])) - 1

    def moves(now: tuple[int, int]) -> Iterator[tuple[str, tuple[int, int]]]:
        for verb in VERBS:
            for index in range(len(minds.names)):
                if (left := now[1] - minds.cost(verb, index)) >= 0:
                    yield verb, (minds.after(now[0], verb, index), left)

    plan = shortest_plan((data["thoughts"], data["influence"]), moves, lambda now: now[0] in (0, whole))
    assert plan is not None
    assert len(plan) == len(LEVELS.solve(data))
    assert shortest_plan((data["thoughts"], data["influence"] - 1), moves, lambda now: now[0] in (0, whole)) is None
