"""A confined command driven over its standard input and output, such as a server of the Model Context Protocol."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections import deque
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from heredity._core.errors import ConfigError, IsolationError
from heredity.sandbox.agent_bubblewrap import Confinement, available, open_descriptors
from heredity.sandbox.isolation import ALLOWED_PACKAGES
from heredity.sandbox.watch import Bounds, Watch

_KEPT_LINES = 20
_CHUNK = 4096
_END_S = 0.3


@dataclass(frozen=True, slots=True)
class PipedCommand:
    """A command and its permissions.

    Attributes:
        command: program and arguments.
        folder: the only writable folder, visible as `/workspace`, where the command starts.
        shows: readable files and folders of the host, at the same paths inside.
        packages: packages it may import in addition to the standard library.
        environment: its variables; nothing is inherited.
        network: share the host's network.
        memory_bytes: memory limit of all its processes, in bytes.
        disk_bytes: disk limit of its folder, in bytes.
        processes: limit on simultaneous processes and threads.
        line_bytes: length limit of a line of its standard output, in bytes.
    """

    command: tuple[str, ...]
    folder: Path
    shows: tuple[Path, ...] = ()
    packages: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    network: bool = False
    memory_bytes: int = 1 << 30
    disk_bytes: int = 1 << 30
    processes: int = 256
    line_bytes: int = 4 << 20


class Piped:
    """A running command; made by `started`.

    Attributes:
        reader: its standard output; a line that is too long raises `ValueError`.
        writer: its standard input.
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.reader: asyncio.StreamReader = process.stdout
        self.writer: asyncio.StreamWriter = process.stdin
        self._error_lines: deque[str] = deque(maxlen=_KEPT_LINES)

    @property
    def last_words(self) -> str:
        """End of its standard error."""
        return "".join(self._error_lines).strip()[-2000:]

    async def listen(self, stream: asyncio.StreamReader) -> None:
        """Keep the end of its standard error."""
        while data := await stream.read(_CHUNK):
            self._error_lines.append(data.decode("utf-8", "replace"))


@contextlib.asynccontextmanager
async def started(command: PipedCommand, *, unsafe: bool = False) -> AsyncGenerator[Piped]:
    """Run a command in the sandbox until the block ends, then end all of its processes.

    It is also killed when it exceeds its memory or disk.

    Args:
        command: the command.
        unsafe: run without a sandbox (where there is none).

    Raises:
        IsolationError: if this machine cannot confine it, and `unsafe` is False.
        ConfigError: if it cannot be started, or a shown folder would reveal hidden files.
    """
    reason = await asyncio.to_thread(available)
    if reason is not None and not unsafe:
        raise IsolationError(f"{command.command[0]!r} cannot be confined: {reason}; or use --unsafe")
    bounds = Bounds(command.memory_bytes, command.disk_bytes)
    with contextlib.ExitStack() as stack:
        process = await (_start(command, stack) if reason is None else _start_unconfined(command))
        piped = Piped(process)
        assert process.stderr is not None
        watch = stack.enter_context(Watch(bounds, command.folder, (), process.pid))
        tasks = [asyncio.ensure_future(piped.listen(process.stderr)), asyncio.ensure_future(_guard(watch, process))]
        try:
            yield piped
        finally:
            piped.writer.close()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), _END_S)
            _kill(process)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await process.wait()


async def _guard(watch: Watch, process: asyncio.subprocess.Process) -> None:
    await watch.exceeded()
    _kill(process)


def _kill(process: asyncio.subprocess.Process) -> None:
    # Of its group, which without a sandbox contains its children. A process that has ended may have passed its number
    # to another by now.
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


async def _start(command: PipedCommand, stack: contextlib.ExitStack) -> asyncio.subprocess.Process:
    confinement = Confinement(
        command.folder,
        None,
        read_only=command.shows,
        packages=(*ALLOWED_PACKAGES, *command.packages),
        environment=command.environment,
        network=command.network,
        host_files=(),
        processes=command.processes,
        file_bytes=command.disk_bytes,
    )
    with open_descriptors() as (descriptors, info):
        # Bubblewrap writes there; it need not be read.
        stack.callback(os.close, info)
        arguments = confinement.arguments(command.command, descriptors)
        return await _spawn(command, arguments, confinement.variables(), tuple(descriptors))


async def _start_unconfined(command: PipedCommand) -> asyncio.subprocess.Process:
    own = {name: os.environ[name] for name in ("PATH", "LANG", "HOME", "TMPDIR") if name in os.environ}
    return await _spawn(command, list(command.command), {**own, **command.environment}, ())


async def _spawn(
    command: PipedCommand, arguments: list[str], environment: Mapping[str, str], descriptors: tuple[int, ...]
) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    try:
        return await asyncio.create_subprocess_exec(
            *arguments,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            env=environment,
            cwd=command.folder,
            pass_fds=descriptors,
            start_new_session=True,
            limit=command.line_bytes,
        )
    except OSError as error:
        raise ConfigError(f"{command.command[0]!r} cannot be started ({error}); check the command") from error
