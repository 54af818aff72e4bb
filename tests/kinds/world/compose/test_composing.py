"""Worlds composed by a seed: the same every time, as asked for, checked, and worlds like any other."""

from __future__ import annotations

import json
import re
import string
from pathlib import Path

import pytest
from typer.testing import CliRunner

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.cli.main import app
from heredity.kinds.world.compose import admission
from heredity.kinds.world.compose.admission import copies
from heredity.kinds.world.compose.composing import (
    ComposedWorld,
    compose,
    description_text,
    families,
    mechanics,
    themes,
)
from heredity.kinds.world.compose.recipe import Recipe
from heredity.kinds.world.contract import Action
from heredity.kinds.world.gates.admit import GATES
from heredity.kinds.world.gates.contract import files_digest
from heredity.kinds.world.skins import look
from heredity.kinds.world.world import World, world
from heredity.tasks.registry import taskset

SEED = 22
"""A small one, which takes a second."""
GRID = 17
"""One that is walked on."""


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
        assert not re.search(r"\b[Aa] [aeio]\w+ (library|garden|ruin|station|cavern|harbour)", text), seed


@pytest.mark.slow
def test_mechanics_never_take_each_others_names() -> None:
    """Rules are compiled, in which a variable of one mechanic could be a name that another uses for itself."""
    for seed in range(60, 600):
        ComposedWorld(Recipe(seed))


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


@pytest.mark.slow
def test_a_seed_gives_the_same_world_levels_and_admission_every_time(folder: Path) -> None:
    first, second = (ComposedWorld(Recipe(SEED)) for _ in range(2))
    assert description_text(first.description) == description_text(second.description)
    assert first.levels_text() == second.levels_text()
    (known,) = (json.loads(line) for line in (folder.parent / admission.KNOWN).read_text().splitlines())
    again = admission.judged(Recipe(SEED))
    assert {**again.to_json(), "seconds": 0} == {**known, "seconds": 0}


def test_a_composed_world_passes_every_gate_and_its_certificate_says_so(folder: Path) -> None:
    certificate = json.loads((folder / "certificate.json").read_text())
    assert certificate["admitted"]
    assert [gate["gate"] for gate in certificate["gates"] if gate["passed"]] == list(GATES)
    assert certificate["digest"] == files_digest(World(folder))


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
        ("worlds/composed-1-blue", "'blue' is not an option"),
        ("worlds/composed-1-2-binary", "write composed-1-binary-2"),
    ):
        with pytest.raises(ConfigError, match=said):
            taskset(wrong)
    with pytest.raises(UnknownNameError, match="seed"):
        taskset("worlds/grid_treasure?seed=1")
    for wrong in ([], ["--seed", "1", "--seeds", "1"], ["--seeds", "3..1"], ["--seeds", "1,,2"], ["--seeds", "1..3,2"]):
        assert CliRunner().invoke(app, ["worlds", "compose", *wrong]).exit_code != 0


def test_many_are_counted_with_reasons_and_distances() -> None:
    seeds = f"{SEED},{SEED + 1}..{SEED + 1}"
    result = CliRunner().invoke(
        app, ["worlds", "compose", "--seeds", seeds, "--reward", "binary", "--processes", "1", "--json"]
    )
    said = json.loads(result.output)
    assert said["composed"] == said["admitted"] + sum(said["rejected"].values()) == 2
    assert said["distinct"] == said["admitted"] - len(said["copies"])
    assert said["novelty"]["nearest_installed"]["min"] > 0
    assert said["novelty"]["installed"]["min"] > 0.33
    assert [row["seed"] for row in said["worlds"]] == [SEED, SEED + 1]


def test_what_is_known_of_a_world_is_not_found_out_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def judged(recipe: Recipe, out: Path | None) -> admission.Composed:
        asked.append(recipe.seed)
        assert out is not None
        (out / recipe.name).mkdir(exist_ok=True)
        (out / recipe.name / "certificate.json").write_text("{}")
        return admission.Composed(recipe.name, recipe.seed, admission.digest(ComposedWorld(recipe)))

    monkeypatch.setattr(admission, "judged", judged)
    recipes = [Recipe(seed) for seed in range(4)]
    first = list(admission.admissions(recipes[:2], tmp_path))
    known = tmp_path / admission.KNOWN
    known.write_text(known.read_text() + known.read_text()[:40])  # killed while it wrote
    assert list(admission.admissions(recipes, tmp_path))[:2] == first
    stale = known.read_text().replace(first[0].digest, "rules of yesterday")
    known.write_text(stale)
    list(admission.admissions(recipes, tmp_path))
    assert asked == [0, 1, 2, 3, 0]
    (tmp_path / "composed-2" / "certificate.json").unlink()
    list(admission.admissions(recipes, tmp_path))
    assert asked == [0, 1, 2, 3, 0, 2]


def test_worlds_that_behave_alike_are_told_from_those_that_do_not(folder: Path) -> None:
    figures = json.loads((folder.parent / admission.KNOWN).read_text())["fingerprint"]
    rows = [
        admission.Composed(f"composed-{seed}", seed, "", fingerprint={**figures, "horizon": figures["horizon"] + far})
        for seed, far in enumerate((0.0, 0.01, 5.0))
    ]
    assert copies(rows) == {"composed-1": "composed-0"}


def test_a_world_that_a_gate_rejects_is_not_written_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(families()["grid"]["ground"], "legend", {"#": "wall"})
    row = admission.judged(Recipe(GRID), tmp_path)
    assert (row.admitted, row.reason) == (False, "format: unexplained symbol")
    assert "legend" in row.detail
    assert list(tmp_path.iterdir()) == []


def test_everything_that_is_exposed_has_a_place_in_the_text_and_the_chests_their_symbols() -> None:
    for seed in range(60):
        made = compose(Recipe(seed)).description
        assert made.rules is not None
        places = {place for _, place, _, _ in string.Formatter().parse(made.skin.text) if place}
        assert set(made.rules.observe) - places <= {"grid", "gauges"}, seed
        assert places - set(made.rules.observe) <= {"t", "steps", "message"}, seed
        assert "listen" not in made.actions or {"a", "b", "c"} <= set(made.skin.legend), seed


def test_bridges_are_told_as_the_map_shows_them() -> None:
    bridged = [made for seed in range(240) if "i" in (made := compose(Recipe(seed)).description).skin.legend]
    assert bridged
    assert all("Some cells are" in made.instruction and "with a number" not in made.instruction for made in bridged)


def test_hidden_prices_are_not_announced_as_seen() -> None:
    asking = [made for seed in range(240) if "ask" in (made := compose(Recipe(seed)).description).actions]
    assert asking
    assert not any("What things cost now" in made.observation for made in asking)


def test_where_nothing_is_hidden_the_rounds_of_prices_opponents_and_orders_are_told() -> None:
    told = {"prices that drift": "ahead", "guards and tools": "wanted", "an opponent that moves by a rule": "beat"}
    seen: set[str] = set()
    for seed in range(240):
        composition = compose(Recipe(seed, observation="full"))
        rules = composition.description.rules
        assert rules is not None
        if "grid" in rules.observe:
            seen |= (asked := set(told) & set(composition.mechanics))
            assert all(told[name] in rules.observe for name in asked), seed
        if "orders" in rules.observe:
            assert "asked" in rules.observe
            seen.add("orders")
    assert seen == {*told, "orders"}


@pytest.mark.parametrize("seed", [2, 5, 9, 12, 15])
def test_an_inverse_skin_shows_something_else_and_a_picture_leaves_no_value_out(seed: int) -> None:
    made = ComposedWorld(Recipe(seed))
    shown = made.start(made.make(3, 1).data).observe()
    assert look(made.description.skin, "inverse", shown) != look(made.description.skin, "text", shown)
    assert "grid" in shown or "gauges" not in shown  # without a grid, what is drawn is the text


def test_a_plant_however_young_is_overripe_when_its_time_has_passed() -> None:
    made = next(
        made
        for seed in range(60)
        if "clock" in (made := ComposedWorld(Recipe(seed, "accumulative", "full"))).description.state
    )
    level = made.make(1, 1)
    state = made.dynamics.start({**level.data, "plants": [[level.data["at"], -4]]})
    state.clock = 12
    assert made.dynamics.observe(state)["ages"].startswith("8 at row")
    state.clock = 13
    assert made.dynamics.act(state, Action("gather", {})).reward == 2.0


def test_levels_of_a_composed_world_are_exact_or_not_drawn() -> None:
    made = ComposedWorld(Recipe(SEED))
    assert {made.make(seed, difficulty).upper_bound.kind for seed in range(4) for difficulty in (1, 3)} == {"exact"}


def test_a_variable_may_be_called_key() -> None:
    locked = next(
        made for seed in range(200) if "key" in (made := ComposedWorld(Recipe(seed, "binary"))).description.state
    )
    assert locked.make(1, 1).reference == 1.0
