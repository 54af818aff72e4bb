"""`benchmarks/worlds_across.py`: its control has one fault that can be mended, and a gain is one of new runs and of new worlds."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from heredity._core.ids import generator
from heredity.library.models.world_learner import _CONSTANT

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
ACTIONS = [{"name": "walk", "parameters": {"where": "one of north, south, east, west"}}]


@pytest.fixture
def across(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    import worlds_across

    return worlds_across


def played(program: str) -> set[str]:
    """Return where a player walks in twenty steps."""
    made: dict[str, Any] = {}
    exec(program, made)
    player = made["Player"]("Walk.", ACTIONS, {}, {})
    return {player.act("A field.")["params"]["where"] for _ in range(20)}


def test_the_control_has_one_fault_which_is_all_that_the_optimizer_can_mend(across: Any, tmp_path: Path) -> None:
    program = (across.stuck(tmp_path / "stuck") / "agent" / "player" / "agent.py").read_text()
    assert [match[1] for match in _CONSTANT.finditer(program)] == ["STUCK"]
    assert len(played(program)) == 1
    assert len(played(program.replace("STUCK = True", "STUCK = False"))) == 4
    again = (across.stuck(tmp_path / "stuck") / "agent" / "player" / "agent.py").read_text()
    assert again == program


def runs(gains: np.ndarray) -> list[Any]:
    return [
        SimpleNamespace(
            reference=SimpleNamespace(heldout_scores=[0.1] * len(row)), heldout=SimpleNamespace(scores=list(0.1 + row))
        )
        for row in gains
    ]


def test_a_gain_is_beyond_noise_where_new_runs_and_new_worlds_would_have_it(across: Any) -> None:
    noise = generator(0, "across").normal(0.0, 0.02, (8, 20))
    everywhere, nowhere, in_one = 0.1 + noise, noise - noise.mean(), noise.copy()
    in_one[:, [3, 13]] += 2.0  # two levels of one of ten worlds
    rows = {name: across.gain_of(runs(g), 10) for name, g in (("all", everywhere), ("none", nowhere), ("one", in_one))}
    assert [rows[name]["beyond_noise"] for name in ("all", "none", "one")] == [True, False, False]
    assert rows["all"]["gain"] == pytest.approx(0.1, abs=0.01)
    assert rows["one"]["by_seed"][0] > 0.0 > rows["one"]["by_seed_and_world"][0]
    assert len(rows["all"]["gains"]) == 8


def test_where_every_seed_gained_the_same_worlds_are_the_chance(across: Any) -> None:
    noise = np.tile(generator(0, "across").normal(0.0, 0.02, 20), (8, 1))
    in_one = noise.copy()
    in_one[:, [3, 13]] += 2.0
    rows = [across.gain_of(runs(g), 10) for g in (0.1 + noise, noise - noise.mean(), in_one)]
    assert [row["beyond_noise"] for row in rows] == [True, False, False]
    assert "by_seed" not in rows[0]
    assert rows[0]["by_seed_and_world"][0] > 0.05


def test_what_is_said_hangs_on_the_control(across: Any) -> None:
    gains, none = {"beyond_noise": True}, {"beyond_noise": False}
    assert "nothing can be said" in across.verdict({"explorer": gains, "stuck": none})
    assert "shows no gain" in across.verdict({"explorer": none, "stuck": gains})
    assert "The agent gains" in across.verdict({"explorer": gains, "stuck": gains})
