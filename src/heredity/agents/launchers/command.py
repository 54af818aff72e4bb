"""Any outside command as a coding agent: started in its workspace, confined, limited in time, with its output kept."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import signal
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from heredity._core.errors import ConfigError, IsolationError
from heredity.records.agent_starts import Continuing
from heredity.records.events import AgentEnded
from heredity.results.text import clean
from heredity.sandbox.agent_bubblewrap import READ_ONLY, Confinement, available, folder_variables, open_descriptors
from heredity.sandbox.isolation import ALLOWED_PACKAGES
from heredity.sandbox.memory import machine_memory
from heredity.sandbox.relay import addresses, broker_addresses, broker_keys
from heredity.sandbox.watch import FAR, Bounds, Watch

_CHUNK = 1 << 16
_MAX_LINE = 8 << 20
_TAIL_BYTES = 8 << 10
_TAIL_LINES = 20
_LINE_CHARACTERS = 300


class AgentLog:
    """Keeps an agent's output in `agent.log`, and the JSON objects among the lines in `agent.events.jsonl`.

    Attributes:
        digest: SHA-256 of the whole output so far, in the order of arrival.
        size: its bytes, kept or not.
    """

    def __init__(self, folder: Path, limit: int) -> None:
        """Keep at most `limit` bytes of each file below a folder, which is created on entering the block."""
        self.digest = hashlib.sha256()
        self.size = 0
        self._tail = bytearray()
        self._folder = folder
        self._room = {"agent.log": limit, "agent.events.jsonl": limit}
        self._files: dict[str, IO[bytes]] = {}

    def __enter__(self) -> AgentLog:
        self._folder.mkdir(parents=True, exist_ok=True)
        # Appended: a resumed run restarts its agent, and earlier output stays.
        for name in self._room:
            self._files[name] = open(self._folder / name, "ab", buffering=0)
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            file.close()

    def last_lines(self, secrets: Sequence[str] = ()) -> str:
        """Return the last lines of the output, with control characters escaped and secrets removed."""
        text = self._tail.decode("utf-8", "replace")
        for secret in filter(None, secrets):
            text = text.replace(secret, "[secret]")
        lines = [clean(line)[:_LINE_CHARACTERS] for line in text.splitlines() if line.strip()]
        return "\n".join(lines[-_TAIL_LINES:])

    async def keep(self, stream: asyncio.StreamReader, *, events: bool) -> None:
        """Record a stream until it ends; `events` extracts JSON objects too."""
        line = bytearray()
        while chunk := await stream.read(_CHUNK):
            self.digest.update(chunk)
            self.size += len(chunk)
            self._tail = (self._tail + chunk)[-_TAIL_BYTES:]
            self._write("agent.log", chunk)
            if events:
                line = self._keep_events(line + chunk)
        if events and line:
            self._keep_events(line + b"\n")

    def _keep_events(self, data: bytearray) -> bytearray:
        *lines, rest = data.split(b"\n")
        for line in lines:
            if _is_object(line):
                self._write("agent.events.jsonl", bytes(line) + b"\n", whole=True)
        # A line without an end is not an event, and must not fill the memory.
        return rest if len(rest) <= _MAX_LINE else bytearray()

    def _write(self, name: str, data: bytes, *, whole: bool = False) -> None:
        room = self._room[name]
        if whole and len(data) > room:
            return
        self._room[name] = room - min(room, len(data))
        self._files[name].write(data[:room])


def _is_object(line: bytes | bytearray) -> bool:
    if not line.lstrip().startswith(b"{"):
        return False
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict)


KILL_AFTER_S = 10.0
"""Seconds between asking an agent to end and killing it."""

DISK_BYTES, FILE_BYTES = 50 << 30, 1 << 30
"""Default limits of an agent's files together, and of one of them, in bytes."""

_DRAIN_S = 2.0
_SECRET_CHARACTERS = 8
"""A variable with a shorter value is a setting, not a key."""


@dataclass(frozen=True, slots=True)
class CommandAgent:
    """A coding agent that is an outside command.

    Attributes:
        command: program and arguments; a single text is passed to `/bin/sh -c`. It starts in the workspace.
        time_limit_s: wall seconds after which it is asked to end, and killed 10 seconds later.
        end_grace_s: wall seconds it may continue after its session has ended.
        environment: variables to set for it, such as its model's address. Only named variables are inherited.
        inherit: names of this process's variables to pass on; secrets are not passed unless named here.
        read_only: folders of the host needed by its programs.
        protected: folders that must stay hidden, in addition to the run's folder.
        packages: packages it may import in addition to the standard library.
        network: share the host's network, which most agents that call a remote model need; recorded with the run.
        unsafe: run without a sandbox; recorded with the run.
        max_log_bytes: bytes kept of its output.
        host_files: names in the workspace that the host writes; the agent can only read them.
        trees: further imports: name to folder or file.
        devices: device files of the host that it may use, such as those of a GPU; recorded with the run.
        logins: files of the user's login that it may read: path below `HOME` to path on the host.
        memory_bytes: memory limit of all its processes, in bytes; None is half of the machine's.
        disk_bytes: disk limit of its files in the workspace, in bytes.
        file_bytes: size limit of one of its files, in bytes.
        again: the command of every start but the first; `command` itself if empty.
        prompt: its first prompt, which later starts get again with the remaining budget.
        continuing: conditions for a restart.
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
    logins: Mapping[str, Path] = field(default_factory=dict[str, Path])
    memory_bytes: int | None = None
    disk_bytes: int = DISK_BYTES
    file_bytes: int = FILE_BYTES
    again: str = ""
    prompt: str = ""
    continuing: Continuing = Continuing()  # noqa: RUF009 - frozen

    def __post_init__(self) -> None:
        if not self.command:
            raise ConfigError("the agent's command is empty; give a program and its arguments")
        if self.time_limit_s is not None and self.time_limit_s <= 0:
            raise ConfigError(f"time_limit_s is {self.time_limit_s}; give a positive number of seconds, or None")
        if min(self.bounds.memory_bytes, self.disk_bytes, self.file_bytes) <= 0:
            raise ConfigError(
                f"the bounds of an agent are {self.bounds}, {self.file_bytes} of a file; give positive numbers of bytes"
            )

    @property
    def bounds(self) -> Bounds:
        """Its limits; by default half of the machine's memory, leaving half to the host, which grades and keeps records."""
        return Bounds(machine_memory() // 2 if self.memory_bytes is None else self.memory_bytes, self.disk_bytes)

    @property
    def argv(self) -> list[str]:
        """The command as program and arguments."""
        return ["/bin/sh", "-c", self.command] if isinstance(self.command, str) else list(self.command)

    @property
    def isolation(self) -> str:
        """Name of its isolation."""
        return "none" if self.unsafe else Confinement(Path(), Path(), network=self.network, devices=self.devices).tier

    def given_environment(self) -> dict[str, str]:
        """Return the variables given to it explicitly."""
        return {**{name: os.environ[name] for name in self.inherit if name in os.environ}, **self.environment}


@dataclass(frozen=True, slots=True)
class BrokerDoor:
    """Address of a broker of language models for an agent.

    Attributes:
        socket: its Unix socket, for an agent in a sandbox.
        url: its base URL, for an agent without one.
        token: the token of the agent's account.
    """

    socket: Path
    url: str
    token: str = field(repr=False)

    @property
    def keys(self) -> dict[str, str]:
        """The variables with the token for OpenAI's, Anthropic's and Google's clients."""
        return broker_keys(self.token)


@dataclass(frozen=True, slots=True)
class AgentExit:
    """Result of an agent's run.

    Attributes:
        code: its exit code; 128 + N when signal N ended it.
        reason: `"exited"`, or the reason it was asked to end: `"session_ended"`, `"time_limit"`, `"memory_limit"` or
            `"disk_limit"` (it exceeded a limit).
        seconds: wall time.
        memory_bytes: peak memory measured.
        disk_bytes: peak disk use measured.
        log_bytes: size of its output, kept or not.
        log_digest: SHA-256 of its whole output, in the order of arrival.
        isolation: its isolation.
        output: the last lines of its output, with control characters escaped.
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
        """Return its entry for the journal."""
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
    """Run an agent until it exits, exceeds its time, memory or disk, or its session ended long enough ago.

    Its output goes to `agent.log`, and the JSON objects among the lines of its standard output to
    `agent.events.jsonl`, whole, both bounded. When this returns, is cancelled, or this process dies, every process of
    the sandbox is gone.

    Args:
        agent: the agent.
        workspace: the agent's prepared workspace.
        socket: the session's Unix socket; None for an agent without a session.
        url: the session's base URL, for an agent without a sandbox; empty without a session.
        logs: the folder for `agent.log` and `agent.events.jsonl`, outside the workspace.
        broker: its access to language models. Variables given to the agent override those of the broker.
        ended: awaited for the end of the session.

    Raises:
        IsolationError: if the machine cannot confine the agent, and unsafe runs are not allowed.
        ConfigError: if a shown folder would reveal hidden files.
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
                await asyncio.to_thread(_forget, workspace / ".home", agent.logins)
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


def _forget(home: Path, logins: Iterable[str]) -> None:
    """Remove a login's files that an agent has replaced by copies; links to other folders are not followed."""
    for name in logins:
        file = home / name
        if any(folder.is_symlink() for folder in file.parents if folder.is_relative_to(home)):
            continue
        with contextlib.suppress(OSError):
            file.unlink()


def _secrets(agent: CommandAgent, broker: BrokerDoor | None) -> list[str]:
    """Return the secrets an agent might print: its token, and inherited variables."""
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
    # `Process.kill` may reap the process itself, which loses its exit code.
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
        logins=agent.logins,
        file_bytes=agent.file_bytes,
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
