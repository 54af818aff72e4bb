"""Worlds composed by a seed: the same every time, as asked for, checked, and worlds like any other."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from heredity.cli.main import app
from heredity.errors import ConfigError, UnknownNameError
from heredity.tasks.registry import taskset
from heredity.worlds.compose import admission, novelty
from heredity.worlds.compose.composed import ComposedWorld, description_text
from heredity.worlds.compose.composing import compose
from heredity.worlds.compose.fingerprint import fingerprint, play_greedy
from heredity.worlds.compose.mechanics import families, mechanics, themes
from heredity.worlds.compose.recipe import Recipe
from heredity.worlds.contract import Action, Outcome
from heredity.worlds.world import World, world

SEED = 9
"""A small one, which takes a fraction of a second."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("worlds")
    result = CliRunner().invoke(app, ["worlds", "compose", "--seed", str(SEED), "--out", str(place)])
    assert result.exit_code == 0, result.output
    assert "1 composed, 1 admitted" in result.output
    return place / f"composed-{SEED}"


def test_every_recipe_gives_rules_of_the_language_and_texts_without_gaps() -> None:
    for seed in range(60):
        made = ComposedWorld(Recipe(seed))
        text = description_text(made.description)
        assert not any(mark in text for mark in ("$", "«", "<tick>", "<gain>", "earn(")), seed
        assert len(made.composition.mechanics) >= 2


def test_a_world_is_what_was_asked_for() -> None:
    for seed in range(12):
        for semantics in ("aligned", "inverse"):
            for observation in ("full", "partial"):
                for reward in ("binary", "accumulative"):
                    meta = compose(Recipe(seed, reward, observation, semantics)).description.meta
                    assert (meta.reward, meta.observation, meta.semantics) == (reward, observation, semantics)


def test_the_texts_of_an_inverse_world_do_not_give_it_away() -> None:
    for seed in range(40):
        made = compose(Recipe(seed, semantics="inverse")).description
        told = " ".join([made.instruction, made.skin.text, *(a.description for a in made.actions.values())]).lower()
        assert not any(word in told for word in ("contrary", "inverse", "opposite", "reversed")), seed


def test_every_mechanic_is_drawn_and_every_vocabulary_has_every_noun() -> None:
    drawn = {name for seed in range(400) for name in compose(Recipe(seed)).mechanics}
    written = {part.mechanic for family in families() for part in mechanics(family).values() if part.mechanic}
    assert drawn == written
    assert len(written) >= 10
    assert len({frozenset(words) for words in themes().values()}) == 1


def test_a_seed_gives_the_same_world_levels_and_admission_every_time() -> None:
    first, second = (ComposedWorld(Recipe(SEED)) for _ in range(2))
    assert description_text(first.description) == description_text(second.description)
    assert first.levels_text() == second.levels_text()
    assert fingerprint(first) == fingerprint(second)
    assert fingerprint(first).distance(fingerprint(second)) == 0
    level = first.level("test-01")
    assert play_greedy(first, level, 3) == play_greedy(second, level, 3)


def test_a_composed_folder_is_a_world_for_every_command(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = world(f"composed-{SEED}")
    read = World(folder)
    assert read.levels_text() == (folder / "levels.json").read_text() == named.levels_text()
    monkeypatch.chdir(folder.parent)
    for command in (["show"], ["levels", "--check"], ["verify", "--seconds", "0", "--processes", "1"]):
        result = CliRunner().invoke(app, ["worlds", command[0], f"./composed-{SEED}", *command[1:]])
        assert result.exit_code == 0, result.output
    played = CliRunner().invoke(app, ["worlds", "play", f"./composed-{SEED}"], input="nonsense\nquit\n")
    assert "left before the end" in played.output


def test_composed_worlds_are_tasksets(folder: Path) -> None:
    tasks = taskset(f"worlds/composed?seed={SEED}&difficulty=1")
    assert tasks.info.name == f"worlds/composed-{SEED}?difficulty=1"
    assert len(tasks.draw("train", 3, 5)) == 3
    assert len(taskset(f"worlds/{folder}").draw("heldout", 10, 5)) == 10
    assert taskset(f"worlds/{folder}").draw("train", 2, 5)[0].spec["world"] == str(folder)


def test_a_folder_with_code_is_not_run_in_this_process(folder: Path, tmp_path: Path) -> None:
    place = tmp_path / folder.name
    place.mkdir()
    for name in ("world.yaml", "levels.json"):
        (place / name).write_text((folder / name).read_text())
    (place / "dynamics.py").write_text("raise SystemExit('was run')")
    with pytest.raises(ConfigError, match="would run in this process"):
        taskset(f"worlds/{place}")


def test_wrong_requests_are_refused_with_what_is_meant() -> None:
    for wrong, said in (
        ("worlds/composed", "seed=7"),
        ("worlds/composed?seed=x", "seed=7"),
        ("worlds/composed?seed=1&reward=gold", "binary or accumulative"),
        ("worlds/composed-1-blue", "none of 'blue'"),
        ("worlds/composed-1-2-binary", "write composed-1-binary-2"),
    ):
        with pytest.raises(ConfigError, match=said):
            taskset(wrong)
    with pytest.raises(UnknownNameError, match="seed"):
        taskset("worlds/grid_treasure?seed=1")
    assert CliRunner().invoke(app, ["worlds", "compose"]).exit_code != 0


def test_many_are_counted_with_reasons_and_distances(monkeypatch: pytest.MonkeyPatch) -> None:
    few = {name: world(name) for name in ("grid_treasure", "shifting_pairs")}

    def installed() -> tuple[dict[str, World], dict[str, str]]:
        return few, {}

    monkeypatch.setattr(novelty, "sound_worlds", installed)
    result = CliRunner().invoke(
        app, ["worlds", "compose", "--seeds", f"{SEED}..{SEED + 1}", "--reward", "binary", "--json"]
    )
    said = json.loads(result.output)
    assert said["composed"] == said["admitted"] + sum(said["rejected"].values()) == 2
    assert said["novelty"]["nearest_installed"]["min"] > 0
    assert len(said["worlds"]) == 2


def test_a_world_that_pays_for_everything_is_rejected_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def paying(recipe: Recipe) -> ComposedWorld:
        made = ComposedWorld(recipe)
        act = made.dynamics.act

        def generous(state: Any, action: Action) -> Outcome:
            return replace(act(state, action), reward=0.5)

        monkeypatch.setattr(made.dynamics, "act", generous)
        return made

    monkeypatch.setattr(admission, "ComposedWorld", paying)
    found, made = admission.admit(Recipe(SEED))
    assert made is None
    assert found.reason in ("levels", "verification")


def test_levels_of_a_composed_world_are_exact_or_not_drawn() -> None:
    made = ComposedWorld(Recipe(SEED))
    assert {made.make(seed, difficulty).upper_bound.kind for seed in range(4) for difficulty in (1, 3)} == {"exact"}


def test_a_variable_may_be_called_key() -> None:
    locked = next(
        made for seed in range(200) if "key" in (made := ComposedWorld(Recipe(seed, "binary"))).description.state
    )
    assert locked.make(1, 1).reference == 1.0
