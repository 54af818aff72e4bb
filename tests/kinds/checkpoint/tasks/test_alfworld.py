"""Chores in households: games of our own in ALFWorld's engine, which its planner solves, and official ones where they are."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from heredity._core.errors import ConfigError, HostError, MissingExtraError
from heredity.agents.launchers.command import CommandAgent, run_agent
from heredity.engine.rollout import RolloutError
from heredity.engine.runner import Job
from heredity.kinds.checkpoint.tasks import posttraining_task
from heredity.kinds.checkpoint.tasks.kinds import EpisodeRunner
from heredity.kinds.checkpoint.tasks.registry import workspace_files
from heredity.kinds.checkpoint.tasks.taskset import PostTrainingTaskset
from heredity.library.tasks.posttraining.alfworld import games, task
from heredity.library.tasks.posttraining.alfworld.games import CHORES, Game, generate, write
from heredity.library.tasks.posttraining.alfworld.process import demonstrations, open_household
from heredity.models import Reply, Request
from heredity.protocols.post_training.protocol import AGENT_PACKAGES
from heredity.sandbox.bubblewrap_root import available
from heredity.sandbox.inference import packages
from heredity.sandbox.limits import Limits

ENTROPY = 31

installed = pytest.mark.skipif(
    any(games.find_spec(name) is None for name in ("alfworld", "textworld", "fast_downward")), reason="needs alfworld"
)


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(games, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"heredity\[alfworld\]"):
        posttraining_task("alfworld")


@installed
def test_games_are_the_same_for_the_same_seed_and_chores_take_turns() -> None:
    made = [generate(5, number) for number in range(12)]
    assert [game.chore for game in made] == [*CHORES, *CHORES]
    assert made[7] == generate(5, 7) != generate(6, 7)
    assert len({game.problem for game in made}) == 12


@installed
def test_no_chore_is_done_before_it_is_begun() -> None:
    for number in range(0, 60, 6):
        game = generate(8, number)
        thing, receptacle = game.task.removeprefix("put a ").split(" in ")
        lines = game.problem.lower().splitlines()
        assert any(f"(inreceptacle {thing}_bar_" in line for line in lines)
        names = {"sinkbasin": "sink_bar"}
        assert not any(
            f"(inreceptacle {thing}_bar_" in line and f" {names.get(receptacle, receptacle + '_bar')}_" in line
            for line in lines
        )


@installed
def test_the_views_are_disjoint_from_each_other_and_from_practice() -> None:
    one = posttraining_task("alfworld")
    taskset = PostTrainingTaskset(one)
    graded, heldout = (taskset.draw(s, n, ENTROPY) for s, n in (("train", 134), ("heldout", 120)))
    practice = one.inner.draw("train", task.PRACTICE, ENTROPY)
    assert len({t.spec["question"] for t in (*graded, *heldout, *practice)}) == 134 + 120 + task.PRACTICE
    assert "generated" in one.labels
    assert one.structure["horizon"] == 5
    json.dumps(graded[0].spec)


class InTurn:
    """A model that gives its replies in turn."""

    name = "fake/in-turn"

    def __init__(self, replies: list[str]) -> None:
        self.coming = iter(replies)
        self.heard: list[str] = []

    async def reply(self, request: Request) -> Reply:
        self.heard.append(request.messages[-1].content)
        return Reply(next(self.coming))


@installed
async def test_a_chore_is_done_in_the_real_engine_as_its_planner_does_it(tmp_path: Path) -> None:
    one = posttraining_task("alfworld")
    drawn = one.inner.draw("validation", 1, ENTROPY)[0]
    write(generate(drawn.spec["seed"], drawn.spec["number"]), tmp_path / "game")
    (rows,) = demonstrations([tmp_path / "game"])
    model = InTurn(["Action: fly to the moon", *(row["completion"] for row in rows)])
    runner = EpisodeRunner(model, settings=one.solving)
    job = Job(one.inner.info, one.solver, drawn)
    ((_, trajectory),) = [pair async for pair in runner.run([job], Limits(episode_s=600))]
    assert (trajectory.total_reward, trajectory.terminated, trajectory.length) == (1.0, True, len(rows) + 1)
    assert model.heard[0] == rows[0]["prompt"]
    assert model.heard[0].count("Your task is to: ") == 1
    assert "Welcome" not in model.heard[0]
    assert model.heard[1].endswith("Observation: Nothing happens.\n")


@installed
async def test_an_engine_that_fails_is_its_own_failure(tmp_path: Path) -> None:
    write(generate(3, 0), tmp_path / "game")
    async with open_household(tmp_path / "game") as game_process:
        game_process.process.kill()
        with pytest.raises(RolloutError, match="ALFWorld"):
            await game_process.reset()
    (tmp_path / "game" / "game.tw-pddl").write_text("{}")
    async with open_household(tmp_path / "game") as game_process:
        with pytest.raises(RolloutError, match="holds 0 playable games"):
            await game_process.reset()


@installed
@pytest.mark.slow
def test_the_planner_solves_every_kind_of_chore_many_times_over(tmp_path: Path) -> None:
    folders = [tmp_path / str(number) for number in range(30)]
    for number, folder in enumerate(folders):
        write(generate(77, number), folder)
    solved = demonstrations(folders)
    assert all(2 <= len(rows) <= 14 for rows in solved)


@installed
@pytest.mark.slow
def test_a_workspace_has_games_to_practise_on_that_are_in_no_view(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task, "PRACTICE", 3)
    task._deal.cache_clear()
    files = workspace_files(posttraining_task("alfworld"), ENTROPY)
    task._deal.cache_clear()
    rows = [json.loads(line) for line in files["data/train.jsonl"].splitlines()]
    assert {row["episode"] for row in rows} == {0, 1, 2}
    assert {"games/000/game.tw-pddl", "games/002/traj_data.json", "env/household.py"} <= files.keys()
    assert b"walkthrough" not in files["games/000/game.tw-pddl"]


@installed
@pytest.mark.slow
def test_a_game_without_a_solution_is_noticed() -> None:
    game = generate(3, 0)
    stuck = Game(game.chore, game.task, game.problem.replace("(pickupable ", "(toggleable "))
    with pytest.raises(HostError, match=r"no solution of game 1|planned 1 of 2 games"):
        task._workspace([games.game_files(game), games.game_files(stuck)])


@installed
def test_official_games_are_taken_from_the_users_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path))
    with pytest.raises(ConfigError, match="alfworld-download"):
        posttraining_task("alfworld-official")
    number = 0
    for split, count in (("valid_unseen", 2), ("valid_seen", 1), ("train", 2)):
        for i in range(count):
            write(generate(1, number), tmp_path / "json_2.1.1" / split / f"chore-{i}" / "trial")
            number += 1
    moved = tmp_path / "json_2.1.1" / "train" / "movable" / "trial"
    write(generate(1, number), moved)
    official = posttraining_task("alfworld-official")
    assert (official.graded, official.heldout, official.labels) == (2, 1, ("public",))
    drawn: Any = PostTrainingTaskset(official).draw("train", 2, 0)
    assert {Path(t.spec["folder"]).parts[-3] for t in drawn} == {"valid_unseen"}


IN_THE_SANDBOX = """
import json
from env.household import INSTRUCTION, Household
from env.rollout import play

rows = [json.loads(line) for line in open("data/train.jsonl")]
for number in range(8):
    steps = iter([row["completion"] for row in rows if row["episode"] == number % 3])
    episode = Household(f"games/{number % 3:03d}")
    print(play(episode, INSTRUCTION, lambda _: next(steps)).total)
    episode.close()
"""


@installed
@pytest.mark.slow
@pytest.mark.skipif(available() is not None, reason="agents cannot be confined here")
async def test_an_agent_plays_chores_in_its_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task, "PRACTICE", 3)
    task._deal.cache_clear()
    workspace = tmp_path / "run" / "workspace"
    for name, data in workspace_files(posttraining_task("alfworld"), ENTROPY).items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_bytes(data)
    task._deal.cache_clear()
    (workspace / "practise.py").write_text(IN_THE_SANDBOX)
    trees = {path.name: path for path in packages(AGENT_PACKAGES)}
    agent = CommandAgent("python3 practise.py", time_limit_s=120, trees=trees, packages=(), host_files=())
    with socket.socket(socket.AF_UNIX) as session:
        session.bind(str(tmp_path / "session"))
        session.listen()
        ended = await run_agent(
            agent, workspace=workspace, socket=tmp_path / "session", url="http://localhost", logs=tmp_path / "logs"
        )
    said = (tmp_path / "logs" / "agent.log").read_text()
    assert (ended.code, said) == (0, "1.0\n" * 8), said
