"""Outside agents: how one is started, what it may ask of a model, and what it has used."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncGenerator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from heredity.analysis.usage import BROKER, TokenUsage, recognised_usage, stream_usage
from heredity.configuration.config import Cell
from heredity.configuration.sections import EvolverSection
from heredity.errors import ConfigError, OutageError, ProviderError
from heredity.gateway import Delta, Model, Request
from heredity.gateway.layers import Ask, Layer
from heredity.judging.session import Session
from heredity.launchers import AgentExit, BrokerDoor, CommandAgent, Launch, launcher
from heredity.launchers.starts import TURNS, Continuing
from heredity.records import read_journal
from heredity.records.agent_events import AgentTool, TokenUsageData
from heredity.records.events import AGENT_TOOL, AGENT_USAGE
from heredity.sandbox.bubblewrap_root import interpreter
from heredity.server.agent_models import models_for_agent
from heredity.server.agent_tools import AgentTools
from heredity.server.broker import Limits


def agent_model(cell: Cell) -> str:
    """Return the name of the model that an outside agent asks through a broker; empty if it asks none there."""
    settings = cell.evolver
    return settings.model or (cell.config.gateway.execution if settings.launcher else "")


def _launch(cell: Cell, prompt: str) -> Launch:
    settings = cell.evolver
    if settings.launcher is None:
        assert settings.agent is not None
        return Launch(settings.agent)
    model = agent_model(cell)
    # A folder's start.sh need not ask any model.
    if not model and not settings.network and "/" not in settings.launcher:
        raise ConfigError(
            f"{settings.label} has no model: set evolver.model, such as anthropic/claude-sonnet-4-5 (heredity evolve: --model), or "
            "give it an account of its own with evolver.network = true and evolver.inherit"
        )
    # Agents look up what they know of a model under its own name, which has no provider before it.
    return launcher(settings.launcher).launch(settings.prompt or prompt, model.rpartition("/")[2])


def program_folders(settings: EvolverSection, *, unsafe: bool) -> list[Path]:
    """Return the folders in which an agent finds the programs that it names: those of its PATH."""
    own = settings.environment.get("PATH", "")
    given = own or (os.environ.get("PATH", "") if unsafe or "PATH" in settings.inherit else "")
    base = Path(sys.executable).parent if unsafe else interpreter().parent
    return [
        base,
        *map(Path, ("/usr/local/bin", "/usr/bin", "/bin")),
        *(Path(part) for part in given.split(":") if part),
    ]


def command_agent(cell: Cell, secrets: Sequence[Path], prompt: str) -> tuple[CommandAgent, Launch]:
    """Return the agent of a run, and how its program is started.

    Args:
        cell: the run.
        secrets: folders that must stay hidden from it.
        prompt: what it is told first, unless the configuration says otherwise.

    Raises:
        ConfigError: if the agent is not there, has no model, or is to be shown a folder or a device that does not exist.
    """
    settings, launch = cell.evolver, _launch(cell, prompt)
    missing = [path for path in settings.read_only if not os.path.isdir(path)]
    if missing:
        raise ConfigError(f"evolver.read_only names {missing[0]!r}, which is not a folder")
    for path in settings.devices:
        if not Path(path).is_char_device():
            raise ConfigError(
                f"evolver.devices names {path!r}, which is no device here; a GPU's begin with /dev/nvidia"
            )
    turns = settings.continue_turns or (TURNS if launch.again else 1)
    agent = CommandAgent(
        launch.command,
        time_limit_s=settings.time_limit_s,
        end_grace_s=settings.end_grace_s,
        environment={**launch.environment, **settings.environment},
        inherit=tuple(settings.inherit),
        read_only=(*launch.read_only, *(Path(p).resolve() for p in settings.read_only)),
        protected=tuple(secrets),
        network=settings.network,
        devices=tuple(map(Path, settings.devices)),
        memory_bytes=settings.memory_bytes,
        disk_bytes=settings.disk_bytes,
        unsafe=cell.config.engine.unsafe,
        again=launch.again,
        prompt=(settings.prompt or prompt) if settings.launcher else "",
        continuing=Continuing(turns, settings.continue_idle, settings.continue_wait_s),
    )
    return agent, launch


def described(cell: Cell, agent: CommandAgent) -> dict[str, Any]:
    """Return what the journal says of an outside agent: how it is started, by what it is confined and bounded."""
    about = {"name": cell.label, "kind": "agent", "command": agent.argv[-1], "isolation": agent.isolation}
    launched = {"launcher": cell.evolver.launcher} if cell.evolver.launcher else {}
    asked = {"model": agent_model(cell)} if agent_model(cell) else {}
    given = {"tools": cell.evolver.tools} if cell.evolver.tools else {}
    return {**about, **launched, **asked, **given, **asdict(agent.bounds), "continuing": asdict(agent.continuing)}


class WatchedModel(Layer):
    """A model of an agent that knows how its last call ended.

    Attributes:
        outage: why the model could not be asked the last time; None if it answered, or refused that request alone.
    """

    outage: ProviderError | None = None

    async def _answer(self, request: Request, ask: Ask) -> AsyncGenerator[Delta]:
        try:
            async with ask(self.model, request) as deltas:
                async for delta in deltas:
                    yield delta
            self.outage = None
        except ProviderError as error:
            self.outage = error if error.outage else None
            raise

    def check(self, ended: AgentExit, submissions: int) -> None:
        """Refuse to take a start for an agent's own that ended because its model was not there.

        Raises:
            OutageError: if it did; on record is then that the start was interrupted.
        """
        if self.outage is not None and ended.reason == "exited" and (ended.code or not submissions):
            raise OutageError(
                f"the agent ended with code {ended.code} without its model: {self.outage}"
            ) from self.outage


@contextlib.asynccontextmanager
async def model_door(
    cell: Cell, session: Session, folder: Path, model: Model | None
) -> AsyncGenerator[BrokerDoor | None]:
    """Serve an agent's model for as long as it runs, within what is left of the budget's tokens and dollars."""
    if model is None:
        yield None
        return

    async def record(source: str, usage: TokenUsageData) -> None:
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


@contextlib.asynccontextmanager
async def tools_door(cell: Cell, session: Session) -> AsyncGenerator[AgentTools | None]:
    """Open the tools of an agent for as long as it runs, if it is given any."""
    given, unsafe = cell.config.agent_tools, cell.config.engine.unsafe
    if not given.names:
        yield None
        return
    from heredity.rollouts.programs import SandboxedPrograms
    from heredity.team.tools.task_tools import open_task_tools

    async def record(call: AgentTool) -> None:
        if session.broken is None:
            await session.note(AGENT_TOOL.line(call))

    async with SandboxedPrograms(unsafe=unsafe) as programs, open_task_tools(given, programs, unsafe=unsafe) as opened:
        tools = await opened(None)
        try:
            yield AgentTools(tools, record)
        finally:
            await tools.close()


def _asked_before(journal: Path) -> list[TokenUsage]:
    """Return what the run's agent used of its model before this process began."""
    used = [data for data in AGENT_USAGE.all(read_journal(journal)) if data["source"] == BROKER]
    return [TokenUsage.from_json(data) for data in used]


@contextlib.asynccontextmanager
async def record_stream(session: Session, logs: Path, launch: Launch) -> AsyncGenerator[None]:
    """Journal afterwards the tokens that an agent's event stream has reported meanwhile, if it reported any."""
    events = logs / "agent.events.jsonl"
    before = _size(events)
    try:
        yield
    finally:
        await _record(session, events, before, launch.events)


async def _record(session: Session, events: Path, start: int, agent: str) -> None:
    usage = await asyncio.to_thread(_read_stream, events, start, agent)
    if usage is not None and session.broken is None:
        await session.record_usage(usage[0], usage[1].to_json())


def _read_stream(events: Path, start: int, agent: str) -> tuple[str, TokenUsage] | None:
    if not events.exists():
        return None
    with events.open("rb") as file:
        file.seek(start)
        lines = file.read().decode("utf-8", "replace").splitlines()
    if not agent:
        return recognised_usage(lines)
    usage = stream_usage(agent, lines)
    return None if usage == TokenUsage() else (agent, usage)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
