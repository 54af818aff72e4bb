"""A world with hooks plays elsewhere as it plays here, where its hooks run in the sandbox."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.kinds.world.dsl.wells import RAIN, well

from heredity._core.errors import HeredityError
from heredity._core.ids import generator
from heredity.kinds.world.exports.autoenv import gymnasium_package, verifiers_package, write_files
from heredity.kinds.world.exports.conversing import Conversation
from heredity.kinds.world.gates.mutants import set_shipped
from heredity.kinds.world.world import World
from heredity.sandbox import isolation

from .test_autoenv import OURS, actions_of, compare
from .test_packages import ours, run

try:
    isolation.resolve()
except HeredityError:
    pytest.skip("programs cannot be confined on this machine", allow_module_level=True)

CHANCE = RAIN.replace("round(1 + math.sin(water)) // 2", "helping.most(random.random() * 2)").replace(
    "clouds[day] *", "len(clouds) // 8 *"
)


@pytest.fixture
def made(tmp_path: Path) -> World:
    """A well whose rain takes chance, and a module of its own."""
    folder = well(tmp_path, CHANCE, start="import helping")
    (folder / "helping.py").write_text("def most(number):\n    return int(number)\n")
    world = World(folder)
    set_shipped(world, {split: levels[:2] for split, levels in world.make_shipped().items()})
    return world


def test_a_gymnasium_package_with_hooks_plays_the_same(made: World, tmp_path: Path) -> None:
    write_files(tmp_path / "out", gymnasium_package(made))
    rng = generator(3, "exports", "hooks")
    plays = [
        [{"level": level.id}, None, actions_of(made, rng, 9)] for split in made.shipped for level in made.shipped[split]
    ]
    plays += [[{"difficulty": 2}, 7, actions_of(made, rng, 9)]]
    results = run("gymnasium_player.py", str(tmp_path / "out" / "src"), "world_well_gymnasium", asked=plays)
    assert results == [ours(made, *play) for play in plays]
    waters = {row[0].split()[0] for rows in results for row in rows}
    assert len(waters) > 3, "rain falls"


def test_a_verifiers_package_with_hooks_pays_what_the_world_pays(made: World, tmp_path: Path) -> None:
    """Against the stand-in of the classes of `verifiers.v1`."""
    write_files(tmp_path / "out", verifiers_package(made))
    level = made.shipped["test"][0]
    replies = [json.dumps(action.to_json()) for action in made.levels.solve(level.data)]
    game = Conversation(made, level)
    for reply in replies:
        game.answer(reply)
    asked = {"split": "test", "index": 0, "replies": replies}
    results = run("verifiers_player.py", str(tmp_path / "out" / "src"), asked=asked)
    assert game.score > 0
    assert results["rewards"] == {"collected": pytest.approx(game.score)}
    assert results["metrics"] == {"steps": float(len(replies)), "refused": 0.0}


@pytest.mark.slow
def test_a_folder_of_autoenv_with_hooks_plays_the_same(made: World, tmp_path: Path) -> None:
    set_shipped(made, made.make_shipped())
    compare(made, OURS, tmp_path / "out", repeats=1)


def test_hooks_of_two_exports_never_meet_and_leave_the_process_its_own_chance(made: World, tmp_path: Path) -> None:
    write_files(tmp_path / "out", gymnasium_package(made))
    script = (
        f"import random, sys; sys.path.insert(0, {str(tmp_path / 'out' / 'src')!r}); import json, gymnasium\n"
        "sys.modules['helping'] = sys; random.seed(4); first = random.random(); random.seed(4)\n"
        "env = gymnasium.make('world_well_gymnasium:worlds/Well-v0'); env.reset(seed=1)\n"
        "env.step({'action': 'wait', 'params': {}})\n"
        "print(json.dumps([random.random() == first, sys.modules['helping'] is sys, 'hooks' in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd="/")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [True, True, False]
