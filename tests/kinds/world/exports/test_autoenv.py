from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import heredity
from heredity._core.errors import ConfigError
from heredity._core.ids import generator
from heredity.bench.attempts import RULES
from heredity.kinds.world.episode import Episode, sample_action
from heredity.kinds.world.exports.autoenv import autoenv_folder, write_files
from heredity.kinds.world.folders.folder import WorldFolder
from heredity.kinds.world.skins import look
from heredity.kinds.world.world import World, world

OURS = Path(heredity.__file__).parent / "kinds" / "world" / "guest_base"
RELEASE = os.environ.get("HEREDITY_AUTOENV", "")
"""A folder with `base/` and `benchmarks/` of AutoEnv's release."""

BASES = [
    pytest.param(OURS, id="ours"),
    pytest.param(
        Path(RELEASE), id="release", marks=pytest.mark.skipif(not RELEASE, reason="HEREDITY_AUTOENV is not set")
    ),
]


def actions_of(made: World, rng: np.random.Generator, count: int) -> list[Any]:
    """Random actions, some of them malformed."""
    wrong: list[Any] = [{"action": "no such action"}, {}, {"action": None, "params": None}, {"action": 3, "params": []}]
    sampled = [sample_action(rng, made.description.actions).to_json() for _ in range(count)]
    return [wrong[int(rng.integers(len(wrong)))] if rng.random() < 0.1 else action for action in sampled]


def ours(made: World, level: Any, actions: Sequence[Any], skin: str) -> list[list[Any]]:
    """The rows that `folder_player.py` returns, as played here."""
    episode: Episode = made.start(level)
    rows: list[list[Any]] = [[look(made.description.skin, skin, episode.observe()), 0.0, episode.done]]
    for action in actions:
        step = episode.step(action)
        rows.append([look(made.description.skin, skin, episode.observe()), step.reward, episode.done])
        if episode.done:
            break
    return rows


def exported(made: World, base: Path, folder: Path, asked: dict[str, Any]) -> dict[str, Any]:
    command = [sys.executable, "-s", str(Path(__file__).with_name("folder_player.py")), str(base), str(folder)]
    done = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def compare(made: World, base: Path, folder: Path, skin: str = "text", repeats: int = 2) -> None:
    write_files(folder, autoenv_folder(made, skin))
    rng = generator(5, "exports", made.name)
    levels = [*made.shipped["test"], *made.shipped["validation"]]
    plays: list[tuple[str, int, list[Any]]] = []
    expected: list[list[list[Any]]] = []
    for number, level in enumerate(levels, 1):
        place = f"level_{number:02d}" if number <= 10 else f"../val_levels/level_{number:02d}"
        for _ in range(repeats):
            actions = actions_of(made, rng, 70)
            plays.append((place, 0, actions))
            expected.append(ours(made, level.data, actions, skin))
    for seed in (4, 11):
        actions = actions_of(made, rng, 70)
        plays.append(("", seed, actions))
        expected.append(ours(made, made.make(seed, 1 + seed % 3).data, actions, skin))
    asked = {"plays": plays, "validate": ["level_01", "../val_levels/level_15", "world_s4"]}
    results = exported(made, base, folder, asked)
    assert results["plays"] == expected
    assert results["validated"] == [[True, []]] * 3


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("name", ["grid_treasure", "composed-7"])
@pytest.mark.fast(2)
def test_an_exported_folder_plays_the_same_without_heredity(name: str, base: Path, tmp_path: Path) -> None:
    compare(world(name), base, tmp_path / "folder")


def in_rules(name: str) -> World:
    from heredity.kinds.world.gates.mutants import set_shipped

    made = World(RULES / name)
    set_shipped(made, made.make_shipped())
    return made


@pytest.mark.slow
@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("name", sorted(path.name for path in RULES.iterdir() if (path / "world.yaml").exists()))
def test_every_example_in_rules_plays_the_same(name: str, base: Path, tmp_path: Path) -> None:
    compare(in_rules(name), base, tmp_path / "folder", repeats=1)


@pytest.mark.slow
@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize(
    "name", sorted(path.parent.name for path in (OURS.parents[1] / "library/worlds").glob("*/world.yaml"))
)
def test_every_world_of_the_library_plays_the_same(name: str, base: Path, tmp_path: Path) -> None:
    compare(world(name), base, tmp_path / "folder", repeats=1)


def test_the_inverse_skin_is_exported_and_pictures_are_refused(tmp_path: Path) -> None:
    compare(world("grid_treasure"), OURS, tmp_path / "folder", "inverse", repeats=1)
    with pytest.raises(ConfigError, match="use text or inverse"):
        autoenv_folder(world("grid_treasure"), "picture")
    with pytest.raises(ConfigError, match="is not empty"):
        write_files(tmp_path / "folder", {})


def test_our_reader_of_folders_finds_all_there_is_to_know(tmp_path: Path) -> None:
    made = world("valley_farm")
    write_files(tmp_path / "farm", autoenv_folder(made))
    folder = WorldFolder(tmp_path / "farm")
    folder.check()
    bounds = [folder.upper_bound(level) for split in ("levels", "val_levels") for level in folder.levels(split)]
    assert bounds == [level.upper_bound.value for split in ("test", "validation") for level in made.shipped[split]]
    assert [action["name"] for action in folder.actions] == list(made.description.actions)
    assert folder.max_steps == made.description.max_steps
