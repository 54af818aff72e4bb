"""Agents without a model in world folders, whose code runs in the sandbox: chance, and the search of the audit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heredity.errors import ConfigError
from heredity.ids import generator
from heredity.results.status import Status
from heredity.rollouts.programs import SandboxedPrograms
from heredity.rollouts.world.folder_actions import enumerate_actions, questions
from heredity.rollouts.world.folder_plays import Plays
from heredity.rollouts.world.folder_process import read_world_folder

PRACTICE = 2_000
"""How many steps `search` may practise on a level, probes apart."""
AGENTS = ("random", "search")
"""Those of `heredity.worlds.agents` that play folders too; `reference` needs rules that say what the solution is."""


async def play_folder(name: str, spec: Mapping[str, Any], run: int, programs: SandboxedPrograms) -> dict[str, Any]:
    """Play a level of a folder.

    Args:
        name: `"random"` draws from the actions that the list allows, as far as it can be read; `"search"` plays the best that a
            search on the very level has found, which may look into the state.
        spec: of a task of `FolderTaskset`.
        run: what the chance of players comes from.
        programs: the sandbox.

    Returns:
        `score` (total over the declared bound), `total`, `steps`, `practice`, `cost_usd`, and where the world fails `status` and
        `failure`.

    Raises:
        ConfigError: if there is no such agent for folders.
        UnjudgedError: if the world only waits, so that nothing can be said of it.
    """
    if name not in AGENTS:
        raise ConfigError(
            f"the agent {name} plays no world folders; give {' or '.join(AGENTS)}, or leave out the folders"
        )
    folder = read_world_folder(spec["folder"], spec["digest"])
    level, seed, bound, practice = spec["level"], spec["seed"], spec["bound"], 0
    async with Plays(folder, programs) as plays:
        if name == "search":
            asked = {**questions(folder), "upper_bound": bound, "steps": PRACTICE, "draws": run}
            explored = await plays.explore(level, asked, seed)
            actions, practice = explored.best, explored.steps
        else:
            allowed, _ = enumerate_actions(folder.actions)
            draws = generator(run, "agent", "random", folder.name, str(level))
            actions = tuple(allowed[int(draws.integers(len(allowed)))] for _ in range(folder.max_steps))
        played = await plays.play(level, actions, seed)
    row = {"score": played.total / bound, "total": played.total, "steps": len(played.rewards), "practice": practice}
    failed = {"score": min(0.0, played.total / bound), "status": Status.ENVIRONMENT_ERROR, "failure": played.failed}
    return {**row, "cost_usd": 0.0, **(failed if played.failed else {})}
