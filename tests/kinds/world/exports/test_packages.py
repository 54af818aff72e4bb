from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from heredity._core.errors import ConfigError
from heredity._core.ids import generator
from heredity.kinds.world.env import WorldEnv
from heredity.kinds.world.exports.autoenv import (
    _from_origins,
    engine,
    gymnasium_package,
    verifiers_package,
    write_files,
)
from heredity.kinds.world.exports.conversing import Conversation, system_prompt
from heredity.kinds.world.world import World, world

from .test_autoenv import actions_of

HERE = Path(__file__).parent
VERIFIERS = os.environ.get("HEREDITY_VERIFIERS", "")
"""A Python with `verifiers` 0.4 and `uv`."""


def run(script: str, *arguments: str, python: str = sys.executable, asked: Any = None, **environment: str) -> Any:
    command = [python, "-s", str(HERE / script), *arguments]
    done = subprocess.run(
        command, input=json.dumps(asked), capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def ours(made: World, options: dict[str, Any], seed: int | None, actions: list[Any]) -> list[list[Any]]:
    env = WorldEnv(made)
    observation, info = env.reset(seed=seed, options=options)
    rows: list[list[Any]] = [[observation, 0.0, False, False, info["level"], info["bound"]]]
    for action in actions:
        observation, *rest, info = env.step(action)
        rows.append([observation, *rest, info["level"], info["bound"]])
        if rest[1] or rest[2]:
            break
    return rows


@pytest.mark.parametrize("name", ["grid_treasure", "composed-7"])
def test_an_exported_gymnasium_package_passes_its_checker_and_plays_the_same(name: str, tmp_path: Path) -> None:
    made = world(name)
    write_files(tmp_path / "out", gymnasium_package(made))
    rng = generator(3, "exports", name)
    levels = [level.id for split in ("test", "validation") for level in made.shipped[split]]
    plays: list[Any] = [[{"level": level}, None, actions_of(made, rng, 60)] for level in levels]
    plays += [[{"difficulty": number}, number, actions_of(made, rng, 60)] for number in (1, 2, 3)]
    [package] = [path.name for path in (tmp_path / "out" / "src").iterdir()]
    results = run("gymnasium_player.py", str(tmp_path / "out" / "src"), package, asked=plays)
    assert results == [ours(made, *play) for play in plays]


@pytest.mark.slow
def test_an_exported_package_builds_a_wheel_that_holds_the_world(tmp_path: Path) -> None:
    import zipfile

    pytest.importorskip("hatchling")
    for name, package in (("gym", gymnasium_package), ("vf", verifiers_package)):
        folder = tmp_path / name
        write_files(folder, package(world("grid_treasure")))
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "wheels")]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        [wheel] = (tmp_path / "wheels").glob(f"*{'gymnasium' if name == 'gym' else 'verifiers'}*.whl")
        names = zipfile.ZipFile(wheel).namelist()
        assert any(path.endswith("grid_treasure/levels.json") for path in names)
        assert any(path.endswith("engine/worlds/episode.py") for path in names)


def test_the_copied_engine_imports_nothing_of_heredity_and_nothing_that_is_not_needed() -> None:
    files = engine(world("grid_treasure"), "package", ("heredity.kinds.world.exports.playing",))
    assert not [path for path, data in files.items() if b"from heredity" in data or b"import heredity" in data]
    imported = b"\n".join(files.values())
    assert b"import pydantic" not in imported
    assert b"from pydantic" not in imported
    assert b"import gymnasium" not in imported
    assert "engine/library/worlds/grid_treasure/levels.py" in files
    assert not [path for path in files if "compose" in path and not path.endswith(("recipe.py", "__init__.py"))]
    assert not [path for path in engine(world("composed-7"), "package") if "library" in path]


def test_a_conversation_pays_what_the_world_pays_and_says_why_a_reply_is_refused() -> None:
    made = world("grid_treasure")
    level = made.level("test-01")
    game = Conversation(made, level)
    assert game.turn_text.startswith("Turn 1 of 30.")
    assert made.description.instruction.strip() in system_prompt(made)
    assert game.answer("I will walk north.")
    assert game.refused == 1
    assert "no action in your reply" in game.turn_text
    assert game.answer('<action>{"action": "fly", "params": {}}</action>')
    assert game.refused == 2
    assert game.score == 0.0
    going = True
    for action in made.levels.solve(level.data):
        assert going
        going = game.answer(f"<action>{json.dumps(action.to_json())}</action>")
    assert not going
    assert game.score == 1.0
    assert "It paid 1." in game.turn_text


def test_an_exported_verifiers_package_keeps_to_the_interface_that_it_is_written_for(tmp_path: Path) -> None:
    """Against a stand-in of the classes of `verifiers.v1` that it uses; see `test_verifiers_itself_plays` for the real ones."""
    made = world("grid_treasure")
    write_files(tmp_path / "out", verifiers_package(made))
    replies = [json.dumps(action.to_json()) for action in made.levels.solve(made.level("test-02").data)]
    results = run(
        "verifiers_player.py", str(tmp_path / "out" / "src"), asked={"split": "test", "index": 1, "replies": replies}
    )
    assert results["names"] == [f"grid_treasure#test-{n:02d}" for n in range(1, 11)]
    assert results["bounded"] is True
    assert results["rewards"] == {"collected": 1.0}
    assert results["metrics"] == {"steps": float(len(replies)), "refused": 0.0}
    asked = {"split": "train", "index": 1, "replies": ["nothing"] * 100}
    results = run("verifiers_player.py", str(tmp_path / "out" / "src"), asked=asked)
    assert results["names"][:3] == [f"grid_treasure#seed-{n}-{1 + n}" for n in range(3)]
    assert not results["bounded"]
    steps = made.make(1, 2).data["steps"]
    assert results["rewards"] == {"collected": 0.0}
    assert results["metrics"] == {"steps": steps, "refused": steps}
    with pytest.raises(ConfigError, match="plays worlds in text"):
        verifiers_package(made, "picture")


@pytest.mark.slow
@pytest.mark.skipif(not VERIFIERS, reason="HEREDITY_VERIFIERS names no Python with verifiers")
def test_verifiers_itself_plays(tmp_path: Path) -> None:
    made = world("grid_treasure")
    write_files(tmp_path / "out", verifiers_package(made))
    replies = [json.dumps(action.to_json()) for action in made.levels.solve(made.level("test-01").data)]
    environment = {"PRIME_API_KEY": "none", "PATH": f"{Path(VERIFIERS).parent}:{os.environ['PATH']}"}
    arguments = (str(tmp_path / "out" / "src"), "world_grid_treasure_verifiers")
    results = run("verifiers_itself.py", *arguments, python=VERIFIERS, asked=replies, **environment)
    assert results == {
        "ok": True,
        "rewards": {"collected": 1.0},
        "metrics": {"steps": float(len(replies)), "refused": 0.0},
    }


def test_plain_descriptions_have_the_fields_of_the_schema() -> None:
    from dataclasses import fields

    from heredity.kinds.world import description
    from heredity.kinds.world.dsl import schema
    from heredity.kinds.world.exports import plain

    pairs = [(description, n) for n in ("Meta", "Parameter", "ActionDescription", "SkinDescription", "Description")]
    pairs += [(schema, n) for n in ("Variable", "Function", "Bound", "LevelRules", "Rules")]
    for module, name in pairs:
        assert {field.name for field in fields(getattr(plain, name))} == set(getattr(module, name).model_fields), name


def test_an_export_imports_public_names_from_where_they_are_defined() -> None:
    text = "def late():\n    from heredity import Task as T\n\n\nfrom heredity import (\n    RefusedError,\n    world,\n)\n"
    assert _from_origins(text).splitlines() == [
        "def late():",
        "    from heredity.tasks.contract import Task as T",
        "",
        "",
        "from heredity._core.errors import RefusedError as RefusedError",
        "from heredity.kinds.world import contract as world",
    ]
