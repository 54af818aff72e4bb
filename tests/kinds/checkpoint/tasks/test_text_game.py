"""The corridor: its rules, its reference solver, and how a language model plays it."""

from __future__ import annotations

import importlib.util
import json
import math
from pathlib import Path

import pytest
from tests.kinds.checkpoint.tasks.grading import graded

from heredity._core.ids import generator
from heredity.kinds.checkpoint.tasks import PostTrainingTaskset, posttraining_task, workspace_files
from heredity.library.tasks.posttraining.corridor import ACTIONS, STEPS, Corridor
from heredity.library.tasks.posttraining.text_game import SPACE, solve


@pytest.mark.parametrize(
    ("level", "actions", "seen", "score"),
    [
        ("@k.D", "r", ".&.D", 0.0),
        ("@k.D", "rrr", "...&", 1.0),
        ("@kD.", "R", "@kD.", 0.0),  # the door stops whoever has no key
        ("k@D.", "R", "k@D.", 0.0),  # nobody jumps over the door
        ("@.kD", "l", "@.kD", 0.0),  # a wall
        ("@^kD", "R", ".^&D", 0.0),  # over a pit
        ("@#kD", "r", "@#kD", 0.0),  # a rock
        ("@#kD", "R", ".#&D", 0.0),  # over a rock
        ("@kD.", "?", "@kD.", 0.0),
    ],
)
def test_an_action_leads_where_the_rules_say(level: str, actions: str, seen: str, score: float) -> None:
    game = Corridor(level)
    for action in actions:
        game.step(action)
    assert (game.observation, game.score, game.done) == (seen, score, bool(score))


def test_the_pit_ends_the_game_without_a_point() -> None:
    game = Corridor("@^kD")
    game.step("r")
    assert (game.done, game.score) == (True, 0.0)


def test_a_game_ends_after_its_steps() -> None:
    game = Corridor("@k.D")
    for _ in range(STEPS):
        assert not game.done
        game.step("l")
    assert game.done


def test_every_level_is_won_by_its_solution_and_by_none_shorter() -> None:
    for drawn in PostTrainingTaskset(posttraining_task("text-game")).draw("heldout", 9, 3):
        level = drawn.spec["level"]
        path = solve(level)
        reached = {level: Corridor(level)}
        for _ in range(len(path) - 1):
            reached = {_after(at, a).observation: _after(at, a) for at in reached.values() for a in ACTIONS}
            assert not any(game.score for game in reached.values())
        game = Corridor(level)
        for action in path:
            game.step(action)
        assert game.score == 1.0


def test_as_many_levels_as_are_stated_can_be_solved() -> None:
    rng = generator(0, "tests", "space")
    corridors = ["".join(rng.permutation([*"@kD^^^#......."])) for _ in range(2000)]
    share = sum(3 <= len(solve(level)) <= STEPS for level in corridors) / len(corridors)
    assert share == pytest.approx(SPACE / (14 * 13 * 12 * math.comb(11, 3) * 8), abs=0.044)  # four standard errors


def _after(game: Corridor, action: str) -> Corridor:
    again = Corridor.__new__(Corridor)
    again.__dict__.update(game.__dict__)
    again.step(action)
    return again


def test_a_level_without_a_way_has_no_solution() -> None:
    assert solve("@Dk") == ""


async def test_a_model_that_plays_the_solution_wins_and_one_that_babbles_does_not() -> None:
    task = posttraining_task("text-game")
    tasks = PostTrainingTaskset(task).draw("train", 6, 3)
    moves: dict[str, str] = {}
    for drawn in tasks:
        game = Corridor(drawn.spec["level"])
        for action in solve(drawn.spec["level"]):
            moves[game.observation] = action
            game.step(action)
    won = await graded(task, tasks, moves.__getitem__)
    assert [t.total_reward for t in won] == [1.0] * 6
    assert [t.length for t in won] == [len(solve(t.spec["level"])) for t in tasks]
    lost = await graded(task, tasks, lambda _: "hello")
    assert [(t.total_reward, t.length, t.status) for t in lost] == [(0.0, STEPS, "ok")] * 6


def test_the_game_of_a_workspace_runs_alone_on_levels_that_are_not_graded(tmp_path: Path) -> None:
    task = posttraining_task("text-game")
    files = workspace_files(task, 5)
    (tmp_path / "game.py").write_bytes(files["game.py"])
    spec = importlib.util.spec_from_file_location("workspace_game", tmp_path / "game.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    practice = [json.loads(line)["level"] for line in files["data/levels.jsonl"].splitlines()]
    hidden = {t.spec["level"] for s in ("train", "heldout") for t in PostTrainingTaskset(task).draw(s, 150, 5)}
    assert len(set(practice)) == 2000
    assert not hidden & set(practice)
    assert module.Corridor(practice[0]).observation == practice[0]
