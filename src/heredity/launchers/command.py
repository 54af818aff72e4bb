"""Any outside command as a coding agent: started in its workspace, confined, bounded in time, its output kept."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from heredity.errors import ConfigError, IsolationError
from heredity.launchers.log import AgentLog
from heredity.launchers.starts import Continuing
from heredity.records.agent_events import AgentEnded
from heredity.sandbox.agent_bubblewrap import READ_ONLY, Confinement, available, folder_variables, open_descriptors
from heredity.sandbox.isolation import ALLOWED_PACKAGES
from heredity.sandbox.memory import machine_memory
from heredity.sandbox.relay import addresses, broker_addresses
from heredity.sandbox.watch import FAR, Bounds, Watch

KILL_AFTER_S = 10.0
"""How long an agent has between being asked to end and being killed."""

DISK_BYTES = 50 << 30
"""How much disk an agent's own files may take, unless it is said otherwise."""

_DRAIN_S = 2.0
_SECRET_CHARACTERS = 8
"""A variable with a shorter value is a setting and no key."""


@dataclass(frozen=True, slots=True)
class CommandAgent:
    """A coding agent that is an outside command.

    Attributes:
        command: program and arguments; one text is given to `/bin/sh -c`. It starts in the workspace.
        time_limit_s: wall seconds after which it is asked to end, and killed 10 seconds later.
        end_grace_s: wall seconds it may go on for after its session has ended.
        environment: variables to set for it, such as its model's address. Nothing is inherited but what is named.
        inherit: names of this process's variables to hand on; secrets stay out unless they are named here.
        read_only: folders of the host that its own programs need.
        protected: folders that must stay hidden, beyond the run's own folder.
        packages: packages it may import beyond the standard library.
        network: share the host's network, which most agents that call a remote model need; recorded with the run.
        unsafe: run without a sandbox; recorded with the run.
        max_log_bytes: how much of its output is kept.
        host_files: names in the workspace that the host writes; the agent can only read them.
        trees: what else it may import: name to folder or file.
        devices: device files of the host that it may use, such as those of a GPU; recorded with the run.
        memory_bytes: most memory that it and all that it starts may hold; None is half of the machine's.
        disk_bytes: most disk that its own files in the workspace may take.
        again: the command of every start but the first; `command` itself if empty.
        prompt: what it was told first, which later starts are told again with what remains.
        continuing: when it is started again.
    """

    command: Sequence[str] | str
    time_limit_s: float | None = None
    end_grace_s: float = 30.0
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    inherit: tuple[str, ...] = ()
    read_only: tuple[Path, ...] = ()
    protected: tuple[Path, ...] = ()
    packages: tuple[str, ...] = ALLOWED_PACKAGES
    network: bool = False
    unsafe: bool = False
    max_log_bytes: int = 256 << 20
    host_files: tuple[str, ...] = READ_ONLY
    trees: Mapping[str, Path] = field(default_factory=dict[str, Path])
    devices: tuple[Path, ...] = ()
    memory_bytes: int | None = None
    disk_bytes: int = DISK_BYTES
    again: str = ""
    prompt: str = ""
    continuing: Continuing = Continuing()  # noqa: RUF009 - frozen

    def __post_init__(self) -> None:
        if not self.command:
            raise ConfigError("the agent's command is empty; give a program and its arguments")
        if self.time_limit_s is not None and self.time_limit_s <= 0:
            raise ConfigError(f"time_limit_s is {self.time_limit_s}; give a positive number of seconds, or None")
        if min(self.bounds.memory_bytes, self.disk_bytes) <= 0:
            raise ConfigError(f"the bounds of an agent are {self.bounds}; give positive numbers of bytes")

    @property
    def bounds(self) -> Bounds:
        """What it may hold; half of the machine's memory leaves the other half to the host, which grades and keeps records."""
        return Bounds(machine_memory() // 2 if self.memory_bytes is None else self.memory_bytes, self.disk_bytes)

    @property
    def argv(self) -> list[str]:
        """The command as program and arguments."""
        return ["/bin/sh", "-c", self.command] if isinstance(self.command, str) else list(self.command)

    @property
    def isolation(self) -> str:
        """The isolation it runs under, by name."""
        return "none" if self.unsafe else Confinement(Path(), Path(), network=self.network, devices=self.devices).tier

    def given_environment(self) -> dict[str, str]:
        """Return the variables that it is explicitly given."""
        return {**{name: os.environ[name] for name in self.inherit if name in os.environ}, **self.environment}


@dataclass(frozen=True, slots=True)
class BrokerDoor:
    """Where an agent finds a broker of language models.

    Attributes:
        socket: its Unix socket, for an agent in a sandbox.
        url: its base URL, for one without.
        token: opens the agent's account.
    """

    socket: Path
    url: str
    token: str = field(repr=False)

    @property
    def keys(self) -> dict[str, str]:
        """The variables by which OpenAI's and Anthropic's clients learn the token."""
        return {"OPENAI_API_KEY": self.token, "ANTHROPIC_API_KEY": self.token}


@dataclass(frozen=True, slots=True)
class AgentExit:
    """How an agent ended.

    Attributes:
        code: its exit code; 128 + N when signal N ended it.
        reason: `"exited"`, or why it was asked to end: `"session_ended"` (its session had), `"time_limit"`, `"memory_limit"`
            or `"disk_limit"` (it held more than it may).
        seconds: wall time.
        memory_bytes: the most memory that it was seen to hold.
        disk_bytes: the most disk that its files were seen to take.
        log_bytes: size of its output, kept or not.
        log_digest: SHA-256 of its whole output, in the order of arrival.
        isolation: what it was confined by.
        output: the last lines of its output, control characters as escapes.
    """

    code: int
    reason: str
    seconds: float
    memory_bytes: int
    disk_bytes: int
    log_bytes: int
    log_digest: str
    isolation: str
    output: str = ""

    def to_json(self) -> AgentEnded:
        """Return what the journal says of it."""
        return {
            "code": self.code,
            "reason": self.reason,
            "seconds": round(self.seconds, 3),
            "memory_bytes": self.memory_bytes,
            "disk_bytes": self.disk_bytes,
            "output": self.output,
        }


async def run_agent(
    agent: CommandAgent,
    *,
    workspace: Path,
    socket: Path | None = None,
    url: str = "",
    logs: Path,
    broker: BrokerDoor | None = None,
    ended: Callable[[], Awaitable[object]] | None = None,
) -> AgentExit:
    """Run an agent until it exits, its time is up, it holds too much memory or disk, or its session has ended long enough.

    Its output goes to `agent.log`, and the JSON objects among the lines of its standard output to `agent.events.jsonl`,
    whole, both bounded. When this returns, is cancelled, or this process dies, every process of the sandbox is gone.

    Args:
        agent: what to run.
        workspace: the agent's workspace, prepared.
        socket: the session's Unix socket; None for an agent that has no session.
        url: the session's base URL, for an agent without a sandbox; empty where there is no session.
        logs: the folder for `agent.log` and `agent.events.jsonl`, outside the workspace.
        broker: what it may ask language models through. Variables that it is given come before those that lead there.
        ended: what to await for the end of the session.

    Raises:
        IsolationError: if the machine cannot confine the agent, and it is not to run without.
        ConfigError: if a folder to show would reveal what must stay hidden.
    """
    started = time.monotonic()
    workspace = await asyncio.to_thread(workspace.resolve)
    with AgentLog(logs, agent.max_log_bytes) as log:
        async with _started(agent, workspace, socket, url, broker) as running:
            watch = Watch(agent.bounds, workspace, agent.host_files, running.process.pid, running.first)
            pumps = [asyncio.create_task(log.keep(stream, events=i == 0)) for i, stream in enumerate(running.streams)]
            try:
                with watch:
                    reason = await _wait(running, agent, ended, watch)
                code = await running.process.wait()
                await asyncio.wait(pumps, timeout=_DRAIN_S)
            finally:
                for pump in pumps:
                    pump.cancel()
                await asyncio.gather(*pumps, return_exceptions=True)
        seconds = time.monotonic() - started
        exit_code = code if code >= 0 else 128 - code
        return AgentExit(
            exit_code,
            reason,
            seconds,
            watch.memory_bytes,
            watch.disk_bytes,
            log.size,
            log.digest.hexdigest(),
            agent.isolation,
            log.last_lines(_secrets(agent, broker)),
        )


def _secrets(agent: CommandAgent, broker: BrokerDoor | None) -> list[str]:
    """Return what an agent was given and might print: its token, and what it inherits."""
    inherited = [os.environ[name] for name in agent.inherit if len(os.environ.get(name, "")) >= _SECRET_CHARACTERS]
    return [*inherited, *([broker.token] if broker else [])]


@dataclass(slots=True)
class _Running:
    process: asyncio.subprocess.Process
    first: int | None = None
    group: bool = False

    @property
    def streams(self) -> tuple[asyncio.StreamReader, ...]:
        return tuple(s for s in (self.process.stdout, self.process.stderr) if s is not None)

    def send(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if self.group:
                os.killpg(self.process.pid, number)
            else:
                os.kill(self.first or self.process.pid, number)

    def kill(self) -> None:
        self.send(signal.SIGKILL)
        if self.process.returncode is None and not self.group:
            _kill(self.process)


def _kill(process: asyncio.subprocess.Process) -> None:
    # `Process.kill` may reap the process itself, and its exit code is then lost.
    with contextlib.suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGKILL)


async def _wait(
    running: _Running, agent: CommandAgent, ended: Callable[[], Awaitable[object]] | None, watch: Watch
) -> str:
    exited = asyncio.create_task(running.process.wait())
    ends = [asyncio.create_task(coroutine) for coroutine in (_deadline(agent, ended), watch.exceeded())]
    try:
        await asyncio.wait({exited, *ends}, return_when=asyncio.FIRST_COMPLETED)
        if exited.done():
            return "exited"
        reason = next(end for end in ends if end.done()).result()
        running.send(signal.SIGTERM)
        ends.append(asyncio.create_task(watch.exceeded(FAR)))
        await asyncio.wait({exited, ends[-1]}, timeout=KILL_AFTER_S, return_when=asyncio.FIRST_COMPLETED)
        running.kill()
        return reason
    finally:
        for task in (exited, *ends):
            task.cancel()
        await asyncio.gather(exited, *ends, return_exceptions=True)


async def _deadline(agent: CommandAgent, ended: Callable[[], Awaitable[object]] | None) -> str:
    async def after_session() -> None:
        if ended is None:
            await asyncio.Event().wait()
        else:
            await ended()
        await asyncio.sleep(agent.end_grace_s)

    try:
        await asyncio.wait_for(after_session(), agent.time_limit_s)
    except TimeoutError:
        return "time_limit"
    return "session_ended"


@contextlib.asynccontextmanager
async def _started(
    agent: CommandAgent, workspace: Path, socket: Path | None, url: str, broker: BrokerDoor | None
) -> AsyncGenerator[_Running]:
    (workspace / ".home").mkdir(exist_ok=True)
    running = await (
        _start_unconfined(agent, workspace, socket, url, broker)
        if agent.unsafe
        else _start(agent, workspace, socket, broker)
    )
    try:
        yield running
    finally:
        if running.process.returncode is None or running.group:
            running.kill()
        await running.process.wait()


async def _start(agent: CommandAgent, workspace: Path, socket: Path | None, broker: BrokerDoor | None) -> _Running:
    reason = await asyncio.to_thread(available)
    if reason is not None:
        raise IsolationError(f"the agent cannot be confined: {reason}; or run it with --unsafe, which is recorded")
    confinement = Confinement(
        workspace,
        socket,
        broker=broker.socket if broker else None,
        read_only=agent.read_only,
        protected=agent.protected,
        packages=agent.packages,
        environment={**(broker.keys if broker else {}), **agent.given_environment()},
        network=agent.network,
        host_files=agent.host_files,
        trees=agent.trees,
        devices=agent.devices,
    )
    with open_descriptors() as (descriptors, info):
        try:
            arguments = confinement.arguments(agent.argv, descriptors)
            process = await _spawn(arguments, confinement.variables(), workspace, tuple(descriptors))
        except BaseException:
            os.close(info)
            raise
    reading = asyncio.ensure_future(asyncio.to_thread(_read_first_process, info))
    try:
        first = await asyncio.shield(reading)
    except asyncio.CancelledError:
        _kill(process)
        await asyncio.gather(reading, process.wait())
        raise
    return _Running(process, first)


async def _start_unconfined(
    agent: CommandAgent, workspace: Path, socket: Path | None, url: str, broker: BrokerDoor | None
) -> _Running:
    environment = {
        **{name: os.environ[name] for name in ("PATH", "LANG", "HOME", "TMPDIR") if name in os.environ},
        **({**broker.keys, **broker_addresses(broker.url)} if broker else {}),
        **agent.given_environment(),
        **folder_variables(str(workspace)),
        **(addresses(url) if url else {}),
        **({"HEREDITY_SOCKET": str(socket)} if socket else {}),
    }
    folders = [str(workspace / "bin"), str(Path(sys.executable).parent), environment.get("PATH", os.defpath)]
    environment["PATH"] = os.pathsep.join(folders)
    process = await _spawn(agent.argv, environment, workspace, ())
    return _Running(process, group=True)


async def _spawn(
    arguments: Sequence[str], environment: Mapping[str, str], folder: Path, descriptors: tuple[int, ...]
) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    try:
        return await asyncio.create_subprocess_exec(
            *arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
            env=environment,
            cwd=folder,
            pass_fds=descriptors,
            start_new_session=True,
        )
    except OSError as error:
        raise ConfigError(f"the agent {arguments[0]!r} cannot be started ({error}); check its command") from error


def _read_first_process(info: int) -> int | None:
    try:
        with open(info, "rb") as file:
            return int(json.loads(file.read())["child-pid"])
    except (ValueError, KeyError):
        return None
