"""Chores in a household of text: ALFWorld (Shridhar et al. 2020) with its own engine, which needs `pip install alfworld`.

A game is a folder with `game.tw-pddl` and `traj_data.json`, official or generated; it is loaded by the package's own environment.
"""

# pyright: reportMissingImports=false
# What is imported here is an extra's, and need not be installed.
from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

from .rollout import FORM, following, play

STEPS = 50

INSTRUCTION = f"""\
You are in a household and are given a chore. Go to places, look for what you need, and do it. Things may be in closed places.
Actions: look, inventory, go to PLACE, open PLACE, close PLACE, take THING from PLACE, move THING to PLACE, examine PLACE or THING,
use LAMP, heat THING with PLACE, cool THING with PLACE, clean THING with PLACE. Write names with their numbers, as they are shown.
{FORM}"""

_WELCOME = "-= Welcome to TextWorld, ALFRED! =-"

_SPARE: list[Any] = []
"""Copies of the planner's library that no open game uses. The engine loads one for each game and never gives it back, and a process
that has unloaded one crashes at its end."""


class Household:
    """One chore. It pays 1 when it is done, and ends then or after its steps.

    Args:
        folder: of the game.
        steps: how many actions there are at most.
    """

    def __init__(self, folder: str | Path, steps: int = STEPS) -> None:
        self.steps = steps
        with _quiet():
            from alfworld.agents.environment.alfred_tw_env import AlfredTWEnv

            loaded = AlfredTWEnv(_config(str(folder), steps), train_eval="eval_out_of_distribution")
            if len(loaded.game_files) != 1:
                raise ValueError(f"{folder} holds {len(loaded.game_files)} playable games; expected exactly 1")
            self._game: Any = loaded.init_env(batch_size=1)
            self._open = False

    def reset(self) -> str:
        """Begin with a look at the room and the chore."""
        self._release()
        with _lending():
            observations, _ = self._game.reset()
        self._open = True
        return _shown(observations[0])

    def step(self, action: str) -> tuple[str, float, bool]:
        """Take an action; one that is not possible does nothing."""
        observations, _, ended, infos = self._game.step([action.lower().strip()])
        won = bool(infos["won"][0])
        return _shown(observations[0]), float(won), won or bool(ended[0])

    def close(self) -> None:
        """Close the game: the 34 MB that it took of the folder for temporary files go to the next one."""
        self._release()
        self._game.close()

    def _release(self) -> None:
        if self._open:
            _SPARE.append(self._game.batch_env.envs[0].downward_lib)
            self._open = False


class Planned:
    """A chore with a way to do it, found by the engine's planner, which knows where everything is.

    Args:
        folder: of the game.
    """

    def __init__(self, folder: str | Path) -> None:
        self.steps = STEPS
        with _quiet(), _lending():
            import textworld
            from alfworld.agents.environment.alfred_tw_env import AlfredDemangler

            infos = textworld.EnvInfos(extras=["walkthrough"])
            self._game: Any = textworld.start(str(Path(folder) / "game.tw-pddl"), infos, wrappers=[AlfredDemangler()])
            self._state: Any = self._game.reset()
        self.solution: list[str] = self._state["extra.walkthrough"]

    def reset(self) -> str:
        """Begin; a game that was made is at its beginning."""
        return _shown(self._state.feedback)

    def step(self, action: str) -> tuple[str, float, bool]:
        """Take an action (see `Household.step`)."""
        state, _, _ = self._game.step(action)
        return _shown(state.feedback), float(state.won), state.won

    def close(self) -> None:
        """Close the game."""
        _SPARE.append(self._game.downward_lib)


def demonstration(folder: str | Path) -> list[dict[str, str]]:
    """Play the planner's solution of a game and return its steps as rows to train on; none if there is no solution."""
    game = Planned(folder)
    played = play(game, INSTRUCTION, following([("", action) for action in game.solution])) if game.solution else None
    game.close()
    if played is None:
        return []
    if not played.done:
        raise ValueError(f"the planner's solution of {folder} does not do the chore: {game.solution}")
    return [{"prompt": q, "completion": a} for q, a in zip(played.asked, played.replies, strict=True)]


def serve() -> None:
    """Play one game over pipes, a JSON value on each line: `{"open": folder}`, then `{"action": text}` as often as one likes.

    With `{"demonstrate": [folder, …]}` it replies with the rows of each folder, a line for each.
    """
    # What the engine prints must not get between the lines.
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    episode: Household | None = None
    for line in sys.stdin:
        asked: dict[str, Any] = json.loads(line)
        if "demonstrate" in asked:
            for folder in asked["demonstrate"]:
                _tell(replies, demonstration(folder))
        elif "open" in asked:
            episode = Household(asked["open"])
            _tell(replies, episode.reset())
        elif episode is not None:
            _tell(replies, episode.step(asked["action"]))


def _tell(replies: Any, value: object) -> None:
    replies.write(json.dumps(value) + "\n")
    replies.flush()


@contextlib.contextmanager
def _lending() -> Generator[None]:
    """Let games that are opened take a spare copy of the library."""
    downward: Any = importlib.import_module("fast_downward")
    load = downward.load_lib
    downward.load_lib = lambda: _SPARE.pop() if _SPARE else load()
    try:
        yield
    finally:
        downward.load_lib = load


def _shown(text: str) -> str:
    return text.replace(_WELCOME, "").strip()


@contextlib.contextmanager
def _quiet() -> Generator[None]:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


def _config(folder: str, steps: int) -> dict[str, Any]:
    """Return what the package's environment reads of its configuration."""
    return {
        "env": {"goal_desc_human_anns_prob": 0, "task_types": [1, 2, 3, 4, 5, 6], "domain_randomization": False,
                "expert_type": "planner"},
        "dataset": {"eval_ood_data_path": folder, "num_eval_games": -1},
        "general": {"training_method": "dagger"},
        "dagger": {"training": {"max_nb_steps_per_episode": steps}},
    }  # fmt: skip
