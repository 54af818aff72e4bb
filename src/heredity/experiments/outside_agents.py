"""Outside agents: how they are started, which model they may call, and their usage."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncGenerator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from heredity._core.errors import ConfigError, OutageError, ProviderError
from heredity.agents.launchers import AgentExit, BrokerDoor, CommandAgent, Launch, LaunchOptions, launcher, linked
from heredity.agents.launchers.command import DISK_BYTES, FILE_BYTES
from heredity.agents.models import models_for_agent
from heredity.agents.run import AgentTools
from heredity.analysis.usage import BROKER, TokenUsage, recognised_usage, stream_usage
from heredity.configuration.config import Cell
from heredity.configuration.sections import EvolverSection
from heredity.models import Delta, Model, Request
from heredity.models.broker import Limits
from heredity.models.layers import Ask, Layer
from heredity.records import read_journal
from heredity.records.agent_starts import TURNS, Continuing
from heredity.records.events import AGENT_TOOL, AGENT_USAGE, AgentTool, TokenUsageData
from heredity.sandbox.bubblewrap_root import interpreter
from heredity.session.session import Session


def agent_model(cell: Cell) -> str:
    """Return the model that an outside agent calls through a broker, or `""`."""
    settings = cell.evolver
    brokered = settings.launcher and not settings.own_account
    return settings.model or (cell.config.gateway.execution if brokered else "")


def _launch(cell: Cell, prompt: str) -> Launch:
    settings = cell.evolver
    if settings.launcher is None:
        assert settings.agent is not None
        return Launch(settings.agent)
    model = agent_model(cell)
    # A folder's start.sh may work without a model.
    if not model and not settings.network and "/" not in settings.launcher:
        raise ConfigError(
            f"{settings.label} has no model: set evolver.model, such as anthropic/claude-sonnet-4-5 (heredity evolve: --model), or "
            "give it an account with evolver.network = true and evolver.inherit or evolver.login"
        )
    if settings.login and cell.config.engine.unsafe:
        raise ConfigError(
            "evolver.login needs the sandbox, which shows the login's files; leave out login, or --unsafe"
        )
    # Agents look up a model's properties by its name without the provider.
    options = LaunchOptions(
        model.partition("/")[0], settings.account_model, settings.effort, settings.profile, settings.login
    )
    return launcher(settings.launcher).launch(settings.prompt or prompt, model.rpartition("/")[2], options)


def program_folders(settings: EvolverSection, *, unsafe: bool) -> list[Path]:
    """Return the folders of an agent's PATH, in which it finds programs."""
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
        secrets: folders hidden from it.
        prompt: its first prompt, unless the configuration sets another.

    Raises:
        ConfigError: if the agent is not installed, has no model, or needs a folder or a device that does not exist.
    """
    settings, launch = cell.evolver, _launch(cell, prompt)
    missing = [path for path in settings.read_only if not os.path.isdir(path)]
    if missing:
        raise ConfigError(f"evolver.read_only names {missing[0]!r}, which is not a folder")
    for path in settings.devices:
        if not Path(path).is_char_device():
            raise ConfigError(
                f"evolver.devices names {path!r}, which is not a device here; GPUs begin with /dev/nvidia"
            )
    turns = settings.continue_turns or (TURNS if launch.again else 1)
    agent = CommandAgent(
        linked(launch.command, launch.logins),
        time_limit_s=settings.time_limit_s,
        end_grace_s=settings.end_grace_s,
        environment={**launch.environment, **settings.environment},
        inherit=tuple(settings.inherit),
        read_only=(*launch.read_only, *(Path(p).resolve() for p in settings.read_only)),
        protected=tuple(secrets),
        network=settings.network,
        devices=tuple(map(Path, settings.devices)),
        memory_bytes=settings.memory_bytes,
        disk_bytes=settings.disk_bytes or DISK_BYTES,
        file_bytes=settings.file_bytes or FILE_BYTES,
        unsafe=cell.config.engine.unsafe,
        logins=launch.logins,
        trees=launch.trees,
        again=launch.again and linked(launch.again, launch.logins),
        prompt=(settings.prompt or prompt) if settings.launcher else "",
        continuing=Continuing(turns, settings.continue_idle, settings.continue_wait_s),
    )
    return agent, launch


_GIVEN = ("tools", "account_model", "effort", "login")


def described(cell: Cell, agent: CommandAgent) -> dict[str, Any]:
    """Return the journal's description of an outside agent: how it is started, confined and limited."""
    about = {"name": cell.label, "kind": "agent", "command": agent.argv[-1], "isolation": agent.isolation}
    launched = {"launcher": cell.evolver.launcher} if cell.evolver.launcher else {}
    asked = {"model": agent_model(cell)} if agent_model(cell) else {}
    given = {key: value for key in _GIVEN if (value := getattr(cell.evolver, key))}
    return {**about, **launched, **asked, **given, **asdict(agent.bounds), "continuing": asdict(agent.continuing)}


class WatchedModel(Layer):
    """Model of an agent that remembers how its last call ended.

    Attributes:
        outage: why the last call could not be made; None if the model answered or refused only that request.
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
        """Raise if the agent ended because its model was unavailable.

        Raises:
            OutageError: in that case; the start is recorded as interrupted.
        """
        if self.outage is not None and ended.reason == "exited" and (ended.code or not submissions):
            raise OutageError(
                f"the agent ended with code {ended.code} without its model: {self.outage}"
            ) from self.outage


@contextlib.asynccontextmanager
async def model_door(
    cell: Cell, session: Session, folder: Path, model: Model | None
) -> AsyncGenerator[BrokerDoor | None]:
    """Serve an agent's model while it runs, within the remaining budget of tokens and dollars."""
    if model is None:
        yield None
        return

    async def record(source: str, usage: TokenUsageData, dropped: Sequence[str]) -> None:
        if session.broken is None:
            await session.record_usage(source, usage, dropped)

    budget = cell.config.budget
    used = await asyncio.to_thread(_earlier_usage, folder / "journal.jsonl")
    limits = Limits(
        tokens=None if budget.tokens is None else max(0, budget.tokens - sum(u.tokens or 0 for u in used)),
        cost_usd=None if budget.cost_usd is None else max(0.0, budget.cost_usd - sum(u.cost_usd or 0.0 for u in used)),
    )
    online = cell.evolver.network
    async with models_for_agent(model, run=cell.id, record=record, limits=limits, online=online) as door:
        yield door


@contextlib.asynccontextmanager
async def tools_door(cell: Cell, session: Session) -> AsyncGenerator[AgentTools | None]:
    """Open the agent's tools while it runs, if it has any."""
    given, unsafe = cell.config.agent_tools, cell.config.engine.unsafe
    if not given.names:
        yield None
        return
    from heredity.engine.programs import SandboxedPrograms
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


def _earlier_usage(journal: Path) -> list[TokenUsage]:
    """Return the model usage of the run's agent before this process started."""
    used = [data for data in AGENT_USAGE.all(read_journal(journal)) if data["source"] == BROKER]
    return [TokenUsage.from_json(data) for data in used]


@contextlib.asynccontextmanager
async def record_stream(session: Session, logs: Path, launch: Launch) -> AsyncGenerator[None]:
    """Record afterwards the tokens that an agent's event stream reports, if any."""
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
