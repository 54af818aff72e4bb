"""Agents without a model for world folders, whose code runs in the sandbox: random, and the search of the audit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heredity._core.errors import ConfigError
from heredity._core.ids import generator
from heredity.engine.programs import SandboxedPrograms
from heredity.kinds.world.folders.actions import enumerate_actions, questions
from heredity.kinds.world.folders.plays import Plays
from heredity.kinds.world.folders.process import read_world_folder
from heredity.results.status import Status

PRACTICE = 2_000
"""Number of steps that `search` may practise on a level, excluding probes."""
AGENTS = ("random", "search")
"""Agents of `heredity.kinds.world.agents` that also play folders; `reference` needs rules with a solution."""


async def play_folder(name: str, spec: Mapping[str, Any], run: int, programs: SandboxedPrograms) -> dict[str, Any]:
    """Play a level of a folder.

    Args:
        name: `"random"` draws from the actions that the list allows, as far as it can be read; `"search"` plays the
            best sequence found by a search on the same level, which may read the state.
        spec: the spec of a task of `FolderTaskset`.
        run: source of the players' chance.
        programs: the sandbox.

    Returns:
        `score` (total over the declared bound), `total`, `steps`, `practice`, `cost_usd`, and if the world fails `status` and
        `failure`.

    Raises:
        ConfigError: if the agent cannot play folders.
        UnjudgedError: if the world only waits, so that it cannot be judged.
    """
    if name not in AGENTS:
        raise ConfigError(f"the agent {name} cannot play world folders; use {' or '.join(AGENTS)}, or omit the folders")
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
