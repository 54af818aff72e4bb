"""From an evolver's configuration to something that spends a session's budget."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from heredity.analysis.usage import TokenUsage, recognised_usage
from heredity.errors import ConfigError
from heredity.evolution import EvolverContext, Feedback
from heredity.evolution.registry import method
from heredity.evolution.starter import starter_candidate
from heredity.experiments.config import SCHEDULED, Cell
from heredity.gateway import Model
from heredity.judging.session import Session
from heredity.launchers import CommandAgent
from heredity.resources import Candidate, SourceTree
from heredity.resources.assembly import candidate_from_folder
from heredity.rollouts.isolation import package_folders
from heredity.rollouts.trajectory import Trajectory
from heredity.server.agent_run import evolve_with_agent
from heredity.server.terms import RunTerms
from heredity.server.workspace import Workspace
from heredity.tasks import TasksetInfo

Publish = Callable[[Feedback, Sequence[Trajectory]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Evolver:
    """What spends a session's budget.

    Attributes:
        evolve: does it.
        replay: whether it is deterministic, and resumed by running it again.
        description: name, kind and options, for the record.
        publisher: makes the hook to which feedback is published; None if nobody but the evolver reads it.
    """

    evolve: Callable[[Session], Awaitable[None]]
    replay: bool
    description: dict[str, Any]
    publisher: Callable[[Session], Publish] | None = None


def initial_candidate(cell: Cell, info: TasksetInfo) -> Candidate:
    """Return the candidate a run starts from: the folder it names, or a neutral starter.

    Raises:
        ConfigError: if the folder is missing, or does not hold what tasks of this kind are attempted with.
    """
    folder = cell.evolver.initial
    if folder is None:
        return starter_candidate(info)
    if info.kind != "episode":
        return candidate_from_folder(Path(folder))
    tree = SourceTree.from_folder(Path(folder))
    if "policy.py" not in tree:
        raise ConfigError(f"evolver.initial = {folder!r} has no policy.py; give the folder of a policy program")
    return Candidate.program(tree)


def build_evolver(
    cell: Cell, info: TasksetInfo, folder: Path, secrets: Sequence[Path], model: Model | None = None
) -> Evolver:
    """Return the evolver of a run.

    Args:
        cell: the run.
        info: its taskset.
        folder: the run's folder.
        secrets: folders that must stay hidden from an outside agent.
        model: what a method may ask for edits.

    Raises:
        ConfigError: if a method or an option is unknown, or the agent's folders are missing.
    """
    initial = initial_candidate(cell, info)
    if cell.evolver.agent is not None:
        return _agent(cell, info, folder, initial, secrets)
    assert cell.evolver.method is not None
    chosen = method(cell.evolver.method, cell.evolver.options)
    scheduled = cell.config.run.protocol == SCHEDULED
    context = EvolverContext(
        info, initial, cell.seed, cell.config.budget.train_cases, cell.evolver.options, scheduled=scheduled
    )

    async def evolve(session: Session) -> None:
        asked = None if model is None else session.recorded(model)
        await chosen.evolve(session, replace(context, model=asked))

    description = {"name": cell.label, "kind": "method", "method": cell.evolver.method, "options": cell.evolver.options}
    return Evolver(evolve, True, description)


def _agent(cell: Cell, info: TasksetInfo, folder: Path, initial: Candidate, secrets: Sequence[Path]) -> Evolver:
    settings, config = cell.evolver, cell.config
    assert settings.agent is not None
    terms = RunTerms(
        taskset=info,
        train_tasks=config.budget.train_cases,
        episode_budget=config.budget.episodes or 0,
        min_episodes=config.budget.min_per_submit,
        max_episodes=config.budget.max_per_submit,
        limits=config.limits.limits(),
        allowed_imports=tuple(sorted(n for n in package_folders() if not n.endswith(".libs"))),
    )
    missing = [path for path in settings.read_only if not os.path.isdir(path)]
    if missing:
        raise ConfigError(f"evolver.read_only names {missing[0]!r}, which is not a folder")
    agent = CommandAgent(
        settings.agent,
        time_limit_s=settings.time_limit_s,
        end_grace_s=settings.end_grace_s,
        environment=settings.environment,
        inherit=tuple(settings.inherit),
        read_only=tuple(Path(p).resolve() for p in settings.read_only),
        protected=tuple(secrets),
        network=settings.network,
        unsafe=config.engine.unsafe,
    )
    workspace = Workspace(folder.resolve() / "workspace", terms)

    logs = folder / "logs"

    async def evolve(session: Session) -> None:
        events = logs / "agent.events.jsonl"
        before = _size(events)
        try:
            await evolve_with_agent(session, workspace, agent, initial=initial, logs=logs)
        finally:
            await _record_usage(session, events, before)

    description = {"name": cell.label, "kind": "agent", "command": settings.agent, "isolation": agent.isolation}
    return Evolver(evolve, False, description, workspace.publisher)


async def _record_usage(session: Session, events: Path, start: int) -> None:
    """Journal the tokens that an agent's event stream reports from byte `start` on, if it reports any."""
    found = await asyncio.to_thread(_read_usage, events, start)
    if found is not None and session.broken is None:
        await session.record_usage(found[0], found[1].to_json())


def _read_usage(events: Path, start: int) -> tuple[str, TokenUsage] | None:
    if not events.exists():
        return None
    with events.open("rb") as file:
        file.seek(start)
        return recognised_usage(file.read().decode("utf-8", "replace").splitlines())


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
