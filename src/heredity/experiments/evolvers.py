"""From an evolver's configuration to something that spends a session's budget."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from heredity.analysis.usage import BROKER, TokenUsage, recognised_usage, stream_usage
from heredity.errors import ConfigError
from heredity.evolution import EvolverContext, Feedback
from heredity.evolution.registry import method
from heredity.evolution.starter import starter_candidate
from heredity.experiments.config import SCHEDULED, Cell
from heredity.gateway import Model
from heredity.judging.session import Session
from heredity.launchers import BrokerDoor, CommandAgent, Launch, launcher
from heredity.records import read_journal
from heredity.resources import Candidate, SourceTree
from heredity.resources.assembly import candidate_from_folder
from heredity.rollouts.isolation import package_folders
from heredity.rollouts.trajectory import Trajectory
from heredity.server.agent_models import models_for_agent
from heredity.server.agent_run import evolve_with_agent
from heredity.server.broker import Limits
from heredity.server.terms import RunTerms
from heredity.server.workspace import Workspace
from heredity.tasks import TasksetInfo

PROMPT = (
    "You are alone at this, and nobody answers questions. Read AGENTS.md in the current folder, then do what it says until the "
    "budget is spent or you are certain that nothing more can be gained; end with the command `heredity finish`."
)
"""What an agent that is started by name is told first, unless the configuration says otherwise."""

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
        model: what a method may ask for edits, or an outside agent for whatever it wants.

    Raises:
        ConfigError: if a method or an option is unknown, or the agent's folders are missing.
    """
    initial = initial_candidate(cell, info)
    if cell.evolver.method is None:
        return _agent(cell, info, folder, initial, _command_agent(cell, secrets), model)
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


def agent_model(cell: Cell) -> str:
    """Return the name of the model that an outside agent asks through a broker; empty if it asks none there."""
    settings = cell.evolver
    return settings.model or (cell.config.gateway.execution if settings.launcher else "")


def _launch(cell: Cell) -> Launch:
    settings = cell.evolver
    if settings.launcher is None:
        assert settings.agent is not None
        return Launch(settings.agent)
    model = agent_model(cell)
    if not model and not settings.network:
        raise ConfigError(
            f"{settings.label} has no model: set evolver.model, such as anthropic/claude-sonnet-4-5, or give it an account "
            "of its own with evolver.network = true and evolver.inherit"
        )
    # Agents look up what they know of a model under its own name, which has no provider before it.
    return launcher(settings.launcher).launch(settings.prompt or PROMPT, model.rpartition("/")[2])


def _command_agent(cell: Cell, secrets: Sequence[Path]) -> tuple[CommandAgent, Launch]:
    settings, launch = cell.evolver, _launch(cell)
    missing = [path for path in settings.read_only if not os.path.isdir(path)]
    if missing:
        raise ConfigError(f"evolver.read_only names {missing[0]!r}, which is not a folder")
    agent = CommandAgent(
        launch.command,
        time_limit_s=settings.time_limit_s,
        end_grace_s=settings.end_grace_s,
        environment={**launch.environment, **settings.environment},
        inherit=tuple(settings.inherit),
        read_only=(*launch.read_only, *(Path(p).resolve() for p in settings.read_only)),
        protected=tuple(secrets),
        network=settings.network,
        unsafe=cell.config.engine.unsafe,
    )
    return agent, launch


def _terms(cell: Cell, info: TasksetInfo) -> RunTerms:
    config = cell.config
    return RunTerms(
        taskset=info,
        train_tasks=config.budget.train_cases,
        episode_budget=config.budget.episodes or 0,
        min_episodes=config.budget.min_per_submit,
        max_episodes=config.budget.max_per_submit,
        limits=config.limits.limits(),
        allowed_imports=tuple(sorted(n for n in package_folders() if not n.endswith(".libs"))),
    )


def _agent(
    cell: Cell,
    info: TasksetInfo,
    folder: Path,
    initial: Candidate,
    started: tuple[CommandAgent, Launch],
    model: Model | None,
) -> Evolver:
    agent, launch = started
    workspace, logs = Workspace(folder.resolve() / "workspace", _terms(cell, info)), folder / "logs"

    async def evolve(session: Session) -> None:
        events = logs / "agent.events.jsonl"
        before = _size(events)
        try:
            async with _broker(cell, session, folder, model) as broker:
                await evolve_with_agent(session, workspace, agent, initial=initial, logs=logs, broker=broker)
        finally:
            await _record_stream(session, events, before, launch.events)

    told = {"launcher": cell.evolver.launcher} if cell.evolver.launcher else {}
    asked = {"model": agent_model(cell)} if agent_model(cell) else {}
    about = {"name": cell.label, "kind": "agent", "command": agent.argv[-1], "isolation": agent.isolation}
    return Evolver(evolve, False, {**about, **told, **asked}, workspace.publisher)


@contextlib.asynccontextmanager
async def _broker(cell: Cell, session: Session, folder: Path, model: Model | None) -> AsyncGenerator[BrokerDoor | None]:
    """Serve an agent's model for as long as it runs, within what is left of the budget's tokens and dollars."""
    if model is None:
        yield None
        return

    async def record(source: str, usage: Mapping[str, Any]) -> None:
        if session.broken is None:
            await session.record_usage(source, usage)

    budget = cell.config.budget
    used = await asyncio.to_thread(_asked_before, folder / "journal.jsonl")
    limits = Limits(
        tokens=None if budget.tokens is None else max(0, budget.tokens - sum(u.tokens or 0 for u in used)),
        cost_usd=None if budget.cost_usd is None else max(0.0, budget.cost_usd - sum(u.cost_usd or 0.0 for u in used)),
    )
    async with models_for_agent(model, run=cell.id, record=record, limits=limits) as door:
        yield door


def _asked_before(journal: Path) -> list[TokenUsage]:
    """Return what the run's agent used of its model before this process began."""
    entries = [e.data for e in read_journal(journal) if e.kind == "agent.usage" and e.data["source"] == BROKER]
    return [TokenUsage(**{k: v for k, v in data.items() if k != "source"}) for data in entries]


async def _record_stream(session: Session, events: Path, start: int, known: str) -> None:
    """Journal the tokens that an agent's event stream reports from byte `start` on, if it reports any."""
    found = await asyncio.to_thread(_read_stream, events, start, known)
    if found is not None and session.broken is None:
        await session.record_usage(found[0], found[1].to_json())


def _read_stream(events: Path, start: int, known: str) -> tuple[str, TokenUsage] | None:
    if not events.exists():
        return None
    with events.open("rb") as file:
        file.seek(start)
        lines = file.read().decode("utf-8", "replace").splitlines()
    if not known:
        return recognised_usage(lines)
    usage = stream_usage(known, lines)
    return None if usage == TokenUsage() else (known, usage)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
