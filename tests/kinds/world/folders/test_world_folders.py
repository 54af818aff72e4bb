from __future__ import annotations

import json
import random
import shutil
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from tests.engine.fakes import ListedModel
from tests.kinds.world.folders.folders import CANAL, FERRY, LIGHT, MOOR, changed, direct_stream, imported, in_step, sail

from heredity._core.errors import ConfigError, HeredityError
from heredity.engine.player import plain_player
from heredity.engine.programs import SandboxedPrograms
from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory
from heredity.kinds.world.folders.folder import TEST, VALIDATION, WorldFolder
from heredity.kinds.world.kind import WorldRunner
from heredity.kinds.world.process import GUEST
from heredity.kinds.world.taskset import FolderTaskset
from heredity.resources import Candidate, SourceTree
from heredity.sandbox import isolation
from heredity.sandbox.limits import Limits
from heredity.tasks import Task
from heredity.tasks.registry import taskset

try:
    isolation.resolve()
except HeredityError:
    pytest.skip("programs cannot be confined on this machine", allow_module_level=True)

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def programs() -> AsyncIterator[SandboxedPrograms]:
    async with SandboxedPrograms(2) as running:
        yield running


def replies(actions: Sequence[object]) -> list[str]:
    return [f"<action>{json.dumps(action)}</action>" for action in actions] + ["<action>moor</action>"] * 30


async def attempt(
    programs: SandboxedPrograms, folder: Path, actions: Sequence[object], *, level: int = 0, **limits: Any
) -> Trajectory:
    tasks = FolderTaskset(str(folder))
    [given] = tasks.draw("heldout", level + 1, 7)[level:]
    runner = WorldRunner(ListedModel(replies(actions)), programs=programs)  # type: ignore[arg-type]
    jobs = [Job(tasks.info, plain_player(), given, 0, policy_seed=3)]
    [trajectory] = [played async for _, played in runner.run(jobs, Limits(**limits))]
    return trajectory


# --- files


def test_a_folder_says_what_its_files_say() -> None:
    folder = WorldFolder(CANAL)
    folder.check()
    assert [action["name"] for action in folder.actions] == ["sail", "light", "moor"]
    assert folder.action_text.endswith("the list [above].")
    assert folder.max_steps == 20
    assert [level.world_id for level in folder.levels(TEST)] == ["level_01", "level_02", "level_03"]
    assert folder.levels(VALIDATION)[0].world_id == "../val_levels/level_11"
    assert [folder.upper_bound(folder.level(name)) for name in ("level_01", "level_12", "level_13")] == [2.0, 1.0, 3.0]


@pytest.mark.parametrize(
    "shape",
    [
        {"level_01": {"max_reward": 4, "notes": "x"}},
        {"level_01.yaml": 4.0},
        {"levels": {"levels/level_01.yaml": {"max_reward": 4}}, "val_levels": {"level_01.yaml": {"max_reward": 9}}},
        {"levels": [{"level": "level_01", "max_reward": 4}, {"level": "level_02", "max_reward": 5}]},
        {"environment_id": "x", "levels": {"level_01.yaml": {"max_reward": 4}}, "summary": {"average_max_reward": 7}},
    ],
)
def test_bounds_are_read_in_whatever_shape_they_come(tmp_path: Path, shape: object) -> None:
    shutil.copytree(CANAL, tmp_path / "w")
    (tmp_path / "w" / "level_max_rewards.json").write_text(json.dumps(shape))
    folder = WorldFolder(tmp_path / "w")
    assert folder.upper_bound(folder.level("level_01")) == 4.0


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("config.yaml", "meta: [", "config.yaml is not YAML"),
        ("config.yaml", "3", "config.yaml is not a mapping"),
        ("config.yaml", "termination: {max_steps: many}", "max_steps is 'many'"),
        ("action_space.txt", "sail and light", "action_space.txt has no JSON list"),
        ("action_space.txt", '[{"name": ]', "action_space.txt: the list of actions is not JSON"),
        ("action_space.txt", '[{"title": "sail"}]', "expected a list of objects with a name"),
        ("level_max_rewards.json", "{", "level_max_rewards.json is not JSON"),
        ("level_max_rewards.json", "{}", "no max_reward for levels/level_01.yaml"),
        ("level_max_rewards.json", '{"level_01": {"max_reward": 0}}', "gives 0 as max_reward for levels/level_01"),
    ],
)
def test_a_wrong_file_is_named(tmp_path: Path, file: str, text: str, said: str) -> None:
    shutil.copytree(CANAL, tmp_path / "w")
    (tmp_path / "w" / file).write_text(text)
    with pytest.raises(ConfigError, match="w/") as raised:
        FolderTaskset(str(tmp_path / "w"))
    assert said in str(raised.value)


def test_a_missing_file_and_a_missing_folder_are_named(tmp_path: Path) -> None:
    shutil.copytree(CANAL, tmp_path / "w")
    (tmp_path / "w" / "agent_instruction.txt").unlink()
    with pytest.raises(ConfigError, match=r"has no agent_instruction\.txt"):
        FolderTaskset(str(tmp_path / "w"))
    with pytest.raises(ConfigError, match="AutoEnv-36"):
        taskset(f"world-folders/{tmp_path}/nowhere")
    with pytest.raises(ConfigError, match="level_12"):
        taskset(f"world-folders/{FERRY}")


# --- streams


def random_actions(seed: int) -> list[dict[str, Any]]:
    draws = random.Random(seed)
    odd: list[dict[str, Any]] = [
        {"action": "no such action", "params": {}},
        {"action": "sail", "params": {"towards": 3}},
    ]
    return [draws.choice([sail("sea"), sail("sea"), sail("source"), LIGHT, MOOR, *odd]) for _ in range(30)]


async def test_two_folders_step_side_by_side_as_their_classes_do_alone(
    programs: SandboxedPrograms, tmp_path: Path
) -> None:
    canal, ferry = WorldFolder(CANAL), WorldFolder(FERRY)
    loads = [{"action": "load", "params": {"sacks": 2}}, {"action": "cross", "params": {}}, {"action": "hum"}] * 5
    async with (
        programs.open(canal.tree, GUEST, {"name": canal.name}) as sailing,
        programs.open(ferry.tree, GUEST, {"name": ferry.name}) as crossing,
    ):
        for level, seed in (("level_02", 1), ("level_03", 2), ("../val_levels/level_12", 3), ("level_02", 2**40)):
            actions = random_actions(seed)
            begun = (await sailing.call("reset", {"level": level, "seed": seed}, seconds=5)).value
            other = (await crossing.call("reset", {"level": "level_01", "seed": seed}, seconds=5)).value
            stream, paid = [begun["observation"]], 0.0
            assert other["observation"].startswith("Cargo 0")
            for action, load in zip(actions, loads * 2, strict=True):
                taken = (await sailing.call("step", {"action": action}, seconds=5)).value
                paid += (await crossing.call("step", {"action": load}, seconds=5)).value["reward"]
                stream.append([taken["observation"], taken["reward"], taken["done"]])
                if taken["done"]:
                    break
            assert paid > 4
            with imported(CANAL, tmp_path / f"{seed}") as env:
                if seed < 2**32:
                    assert stream == direct_stream(env, level, seed, actions)
                assert len(stream) > 5


async def test_the_seed_is_all_that_chance_depends_on(programs: SandboxedPrograms) -> None:
    canal = WorldFolder(CANAL)
    streams: list[Any] = []
    for seed in (5, 5, 6):
        async with programs.open(canal.tree, GUEST, {"name": canal.name}) as world:
            asked = {"level": "level_02", "seed": seed, "actions": random_actions(0)}
            streams.append((await world.call("play", asked, seconds=5)).value)
    assert streams[0] == streams[1] != streams[2]


async def test_files_beside_the_code_and_in_the_working_folder_are_the_same(
    programs: SandboxedPrograms, tmp_path: Path
) -> None:
    lines = (
        "from pathlib import Path\n"
        "here = Path(__file__).parent\n"
        "assert here == Path.cwd() and here.name == 'w'\n"
        "assert open('config.yaml').read() == (here / 'config.yaml').read_text()\n"
        "(here / 'levels' / 'own.yaml').write_text('x')\n"
        "assert Path('levels/own.yaml').exists()"
    )
    trajectory = await attempt(programs, in_step(lines, tmp_path / "w"), [LIGHT], steps=1)
    assert (trajectory.status, trajectory.total_reward) == ("ok", 0.5), trajectory.failure
    assert not (tmp_path / "w" / "levels" / "own.yaml").exists()


# --- attempts


async def test_a_language_model_plays_a_folder_as_it_plays_any_world(programs: SandboxedPrograms) -> None:
    trajectory = await attempt(programs, CANAL, [LIGHT, sail("sea"), sail("sea"), LIGHT])
    assert (trajectory.status, trajectory.total_reward, trajectory.length, trajectory.terminated) == (
        "ok",
        1.0,
        4,
        True,
    )
    assert trajectory.columns["info/message"] == [
        "a lantern burns; event: lit",
        "sailed",
        "sailed",
        "a lantern burns; event: lit",
    ]
    assert list(trajectory.columns["info/total"]) == [1.0, 1.0, 1.0, 2.0]
    assert list(trajectory.columns["info/bound"]) == [2.0] * 4
    assert len(trajectory.columns["obs"]) == 5
    system = trajectory.columns["messages"][0]
    assert "Light every lantern" in json.dumps(system)
    assert "every name stands in the list" in json.dumps(system)


async def test_a_program_plays_a_folder(programs: SandboxedPrograms) -> None:
    source = """
class Player:
    def __init__(self, instruction, actions, prompts, memories):
        assert [a["name"] for a in actions] == ["sail", "light", "moor"]

    def act(self, observation):
        place = observation.split("You are at ")[1].split(".")[0]
        if f"{place}: dark" in observation:
            return {"action": "light", "params": {}}
        return {"action": "sail", "params": {"towards": "sea"}}
"""
    tasks = taskset(f"world-folders/{CANAL}")
    runner = WorldRunner(None, programs=programs)
    made = Candidate({"agent/player": SourceTree({"agent.py": source})})
    jobs = [Job(tasks.info, made, task, i) for i, task in enumerate(tasks.draw("heldout", 2, 3))]
    trajectories = [trajectory async for _, trajectory in runner.run(jobs, Limits())]
    assert [trajectory.total_reward for trajectory in trajectories] == [1.0, 1.0], [
        trajectory.failure for trajectory in trajectories
    ]


async def test_what_is_no_action_costs_a_step_and_never_reaches_the_world(
    programs: SandboxedPrograms, tmp_path: Path
) -> None:
    folder = in_step(
        "assert action['action'] in ('light', 'odd') and isinstance(action['params'], dict)", tmp_path / "w"
    )
    model = ["I light it.", '<action>["light"]</action>', *replies([{"action": "odd"}, LIGHT])]
    tasks = FolderTaskset(str(folder))
    runner = WorldRunner(ListedModel(model), programs=programs)  # type: ignore[arg-type]
    jobs = [Job(tasks.info, plain_player(), tasks.draw("heldout", 1, 1)[0])]
    [trajectory] = [played async for _, played in runner.run(jobs, Limits(steps=4))]
    assert (trajectory.status, trajectory.length, trajectory.total_reward) == ("ok", 4, 0.5), trajectory.failure
    assert trajectory.columns["info/refused"] == [True, True, False, False]


async def test_scores_may_exceed_the_declared_bound(programs: SandboxedPrograms, tmp_path: Path) -> None:
    folder = changed(
        CANAL,
        tmp_path / "w",
        "level_max_rewards.json",
        '"level_01.yaml": {"max_reward": 2.0',
        '"level_01.yaml": {"max_reward": 0.5',
    )
    assert FolderTaskset(str(folder)).info.public["bounds"] == "declared"
    trajectory = await attempt(programs, folder, [LIGHT, sail("sea"), sail("sea"), LIGHT])
    assert trajectory.total_reward == 4.0


async def test_the_horizon_ends_a_world_that_does_not(programs: SandboxedPrograms, tmp_path: Path) -> None:
    folder = changed(
        CANAL,
        tmp_path / "w",
        "env_main.py",
        "    def done(self, state=None):\n",
        "    def done(self, state=None):\n        return False\n",
    )
    trajectory = await attempt(programs, folder, [])
    assert (trajectory.status, trajectory.length, trajectory.terminated) == ("ok", 20, False)


# --- faults are contained


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("raise KeyError('rope')", "KeyError: 'rope'"),
        ("import time; time.sleep(60)", "timeout"),
        ("import os; os._exit(3)", "crash"),
        ("import sys; sys.exit(0)", "SystemExit"),
        ("held = bytearray(3 << 30)", "oom"),
        ("open('/etc/passwd').read()", "PermissionError"),
        ("import os; os.listdir('/root')", "PermissionError"),
        ("open('/tmp/left-behind', 'w')", "Read-only file system"),
        ("import os; os.write(4, b'\\x05\\x00\\x00\\x00Rforged')", "crash"),
        ("import socket; socket.socket()", "PermissionError"),
        ("import heredity", "heredity"),
    ],
)
async def test_a_world_that_fails_is_an_environment_failure(
    programs: SandboxedPrograms, tmp_path: Path, lines: str, said: str
) -> None:
    trajectory = await attempt(programs, in_step(lines, tmp_path / "w"), [LIGHT], act_s=0.5)
    assert (trajectory.status, trajectory.failure_source, trajectory.length) == ("environment_error", "environment", 0)
    assert trajectory.failure is not None
    assert said in trajectory.failure.message, trajectory.failure
    if "Error" in said:
        assert 'File "w/env_main.py", line ' in trajectory.failure.traceback


async def test_a_world_that_cannot_begin_is_an_environment_failure(programs: SandboxedPrograms, tmp_path: Path) -> None:
    folder = changed(CANAL, tmp_path / "w", "env_obs.py", "class Near", "raise ImportError('no fog')\n\n\nclass Near")
    trajectory = await attempt(programs, folder, [LIGHT])
    assert (trajectory.status, trajectory.failure_source) == ("environment_error", "environment")
    assert trajectory.failure is not None
    assert "no fog" in trajectory.failure.message
    assert 'File "w/env_obs.py"' in trajectory.failure.traceback


async def test_a_world_that_prints_without_end_goes_on(programs: SandboxedPrograms, tmp_path: Path) -> None:
    folder = in_step("for _ in range(100): print('x' * (1 << 20))", tmp_path / "w")
    trajectory = await attempt(programs, folder, [LIGHT], steps=1)
    assert (trajectory.status, trajectory.total_reward) == ("ok", 0.5)
    assert len(trajectory.encode()) < 1 << 16


async def test_a_world_that_answers_what_no_world_answers_is_contained(
    programs: SandboxedPrograms, tmp_path: Path
) -> None:
    forged = "import sys\nsys.modules['world_folder_guest'].World.step = lambda self, action: {'reward': 'much'}"
    trajectory = await attempt(programs, in_step(forged, tmp_path / "w"), [MOOR, MOOR])
    assert (trajectory.status, trajectory.failure_source, trajectory.length) == ("environment_error", "environment", 1)


async def test_an_action_that_does_not_fit_and_breaks_the_world_is_the_candidates_fault(
    programs: SandboxedPrograms, tmp_path: Path
) -> None:
    folder = in_step(
        "action['params'].get('towards', 'sea').upper()\nassert action['action'] != 'mutiny'", tmp_path / "w"
    )
    for wrong in (sail(None), {"action": "mutiny"}):  # type: ignore[arg-type]
        trajectory = await attempt(programs, folder, [wrong])
        assert (trajectory.status, trajectory.failure_source) == ("invalid_action", "candidate"), trajectory.failure
        assert trajectory.failure is not None
        assert "env_main.py" in trajectory.failure.traceback


async def test_a_folder_that_changes_under_a_run_is_not_scored(programs: SandboxedPrograms, tmp_path: Path) -> None:
    folder = shutil.copytree(CANAL, tmp_path / "w")
    tasks = FolderTaskset(str(folder))
    [given] = tasks.draw("heldout", 1, 1)
    (folder / "config.yaml").write_text((folder / "config.yaml").read_text().replace("max_steps: 20", "max_steps: 30"))
    runner = WorldRunner(ListedModel(replies([LIGHT])), programs=programs)  # type: ignore[arg-type]
    [trajectory] = [played async for _, played in runner.run([Job(tasks.info, plain_player(), given)], Limits())]
    assert (trajectory.status, trajectory.failure_source) == ("host_error", "host")


async def test_a_folder_without_a_sandbox_is_refused() -> None:
    tasks = FolderTaskset(str(CANAL))
    runner = WorldRunner(ListedModel(replies([LIGHT])))  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="sandbox"):
        [_ async for _ in runner.run([Job(tasks.info, plain_player(), tasks.draw("heldout", 1, 1)[0])], Limits())]


# --- tasks


def levels(tasks: Sequence[Task]) -> list[tuple[str | None, int]]:
    return [(task.spec["level"], task.spec["seed"]) for task in tasks]


def test_train_levels_are_generated_and_the_rest_are_those_in_the_folder() -> None:
    tasks = taskset(f"world-folders/{CANAL}")
    train = tasks.draw("train", 6, 5)
    assert [task.spec["level"] for task in train] == [None] * 6
    assert len(set(levels(train))) == 6
    assert levels(tasks.draw("train", 2, 5)) == levels(train)[:2]
    assert levels(tasks.draw("train", 2, 6)) != levels(train)[:2]
    assert {task.spec["bound"] for task in train} == {2.0}
    assert [task.spec["level"] for task in tasks.draw("validation", 3, 5)] == [
        f"../val_levels/level_{n}" for n in (11, 12, 13)
    ]
    assert [task.spec["bound"] for task in tasks.draw("heldout", 3, 5)] == [2.0, 2.0, 2.0]
    with pytest.raises(ConfigError, match="the folder has 3"):
        tasks.draw("heldout", 4, 5)


async def test_a_generated_level_is_played(programs: SandboxedPrograms) -> None:
    tasks = taskset(f"world-folders/{CANAL}")
    [given] = tasks.draw("train", 1, 5)
    runner = WorldRunner(ListedModel(replies([MOOR])), programs=programs)  # type: ignore[arg-type]
    [trajectory] = [played async for _, played in runner.run([Job(tasks.info, plain_player(), given)], Limits())]
    assert (trajectory.status, trajectory.length) == ("ok", 20)


def test_without_a_generator_that_works_the_validation_levels_are_shared_out(tmp_path: Path) -> None:
    start = "        world_id = f"
    folder = changed(CANAL, tmp_path / "w", "env_generate.py", start, "        raise OSError('dry')\n" + start)
    tasks = FolderTaskset(str(folder))
    assert [task.spec["level"] for task in tasks.draw("train", 2, 5)] == [
        "../val_levels/level_11",
        "../val_levels/level_13",
    ]
    assert [task.spec["level"] for task in tasks.draw("validation", 1, 5)] == ["../val_levels/level_12"]


@pytest.mark.slow
def test_a_generator_that_has_few_levels_says_so(tmp_path: Path) -> None:
    folder = changed(CANAL, tmp_path / "w", "env_generate.py", "random.seed(seed)", "random.seed(seed % 4)")
    tasks = FolderTaskset(str(folder))
    assert len(tasks.draw("train", 4, 5)) == 4
    with pytest.raises(ConfigError, match="generates about 4"):
        tasks.draw("train", 5, 5)
