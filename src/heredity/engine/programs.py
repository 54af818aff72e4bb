"""`SandboxedPrograms`: functions of untrusted source trees, each in a confined process (docs/isolation.md, "Programs").

`call` starts a fresh process that imports a module and calls one function. `open` keeps the process and an object in
it whose methods can be called. Arguments and results are JSON; failures of a program are returned as a `ToolResult`.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heredity._core.engine_folder import EngineFolder
from heredity._core.errors import ConfigError, HostError
from heredity.engine.actor import Service, ToolResult
from heredity.engine.program_process import ProgramLimits, ProgramProcess, Turn
from heredity.resources import SourceTree
from heredity.sandbox import isolation as isolations
from heredity.sandbox.zygote import AsyncZygote, Worker

_MAX_FOLDERS = 256
_SLOTS = 16
"""Maximum processes per zygote; when all slots are taken, another zygote is started."""


class ProgramPool:
    """Starts and ends confined processes for programs; the first call starts the first zygote.

    Args:
        isolation: the layers to use.
        workers: maximum number of processes that hold a turn at the same time.
        limits: limits of each call.
    """

    def __init__(self, isolation: isolations.Isolation, workers: int, limits: ProgramLimits) -> None:
        self._isolation, self._limits = isolation, limits
        self._places = asyncio.Semaphore(workers)
        self._starting = asyncio.Lock()
        self._zygotes: list[AsyncZygote] = []
        self._folders: _Folders | None = None
        self._running: dict[ProgramProcess, SourceTree] = {}
        self._closed = False

    async def start(
        self, tree: SourceTree, services: Mapping[str, Service], cpu_s: int, *, processor: bool = False
    ) -> ProgramProcess:
        """Fork a process that may read `tree` and use `cpu_s` of CPU time; it holds a turn.

        Args:
            tree: the files.
            services: services it may request.
            cpu_s: CPU time, in seconds.
            processor: count CPU time instead of wall time for its calls (see `SandboxedPrograms.open`).

        Raises:
            HostError: if the sandbox does not start, or the pool is closed.
        """
        turn = Turn(self._places)
        await turn.take()
        try:
            async with self._starting:
                zygote, worker = await self._launch(tree, cpu_s)
            process = ProgramProcess(zygote, worker, self._limits, services, turn, processor=processor)
        except BaseException:
            turn.give()
            raise
        self._running[process] = tree
        return process

    def end(self, process: ProgramProcess) -> None:
        """End a process that this pool started."""
        process.kill()
        if self._folders is not None:
            self._folders.drop(self._running.pop(process))

    async def close(self) -> None:
        """End every process; calls in progress fail because the sandbox has ended."""
        self._closed = True
        async with self._starting:
            for process in self._running:
                process.kill()
            for zygote in self._zygotes:
                await zygote.close()
            self._zygotes.clear()
            if self._folders is not None:
                await asyncio.to_thread(self._folders.remove)

    async def _launch(self, tree: SourceTree, cpu_s: int) -> tuple[AsyncZygote, Worker]:
        if self._closed:
            raise HostError("these programs are closed; create a new SandboxedPrograms")
        limits = self._limits
        if self._folders is None:
            self._folders = await asyncio.to_thread(_Folders, self._isolation, limits.scratch_bytes)
        zygote = await self._zygote(self._folders.settings)
        folder = await self._folders.hold(tree)
        order = {
            "program": str(folder),
            "memory": limits.memory_bytes,
            "file_size": limits.scratch_bytes,
            "cpu_s": cpu_s,
            "output": limits.output_bytes,
            "result": limits.result_bytes,
            "ask": limits.request_bytes,
        }
        try:
            worker = zygote.launch(order)
        except HostError:
            self._folders.drop(tree)
            raise
        return zygote, worker

    async def _zygote(self, settings: Mapping[str, Any]) -> AsyncZygote:
        for gone in [z for z in self._zygotes if not z.alive]:
            self._zygotes.remove(gone)
            await gone.close()
        free = next((z for z in self._zygotes if z.free), None)
        if free is None:
            free = await AsyncZygote.start(settings)
            self._zygotes.append(free)
        return free


class _Folders:
    """Programs written to disk once for many calls; unused ones are deleted when there are too many.

    Attributes:
        settings: of the zygotes whose workers may read them.
    """

    def __init__(self, isolation: isolations.Isolation, scratch_bytes: int) -> None:
        self._engine = EngineFolder()
        settings = isolations.zygote_settings(isolation, self._engine.path, scratch_bytes)
        self.settings = {**settings, "main": "program", "slots": _SLOTS}
        self._users: dict[str, int] = {}

    async def hold(self, tree: SourceTree) -> Path:
        """Return the folder with a tree's files; it stays until every `hold` is matched by a `drop`."""
        digest = tree.digest
        folder = self._path(digest)
        users = self._users.pop(digest, None)
        if users is None:
            await self._make_room()
            await asyncio.to_thread(_write, tree, folder)
        self._users[digest] = (users or 0) + 1  # the last in this order was used last
        return folder

    async def _make_room(self) -> None:
        oldest = next((digest for digest, users in self._users.items() if users == 0), None)
        if len(self._users) >= _MAX_FOLDERS and oldest is not None:
            del self._users[oldest]
            await asyncio.to_thread(shutil.rmtree, self._path(oldest), ignore_errors=True)

    def drop(self, tree: SourceTree) -> None:
        """Release a tree's folder after a process that used it has ended."""
        self._users[tree.digest] -= 1

    def remove(self) -> None:
        """Remove every folder."""
        self._engine.remove()

    def _path(self, digest: str) -> Path:
        return self._engine.path / "programs" / digest


def _write(tree: SourceTree, folder: Path) -> None:
    staged = Path(tempfile.mkdtemp(dir=folder.parent))
    tree.write_to(staged)
    try:
        staged.rename(folder)
    except OSError:  # a call that was cancelled has written it meanwhile
        shutil.rmtree(staged)


_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_PATH = rf"{_NAME}(\.{_NAME})*"
_FUNCTION = re.compile(f"{_PATH}:{_PATH}")


class SandboxedPrograms:
    """Runs functions of untrusted source trees; bound to the event loop that first uses it.

    Programs import modules of their tree, the standard library and the allow-listed packages; their folder is readable.
    The working directory is a (private) scratch folder. `random` and numpy's global generator start from the same state in
    every process. Processes start with the first call.

    Args:
        workers: maximum concurrent programs (by default one per core). Programs that wait for a service or for their
            next call do not count.
        limits: limits of each call.
        unsafe: run with the layers of isolation available here (instead of refusing when one is missing).

    Attributes:
        isolation: the layers in force.
        limits: limits of each call.

    Raises:
        IsolationError: if this machine cannot confine programs and `unsafe` is False.
    """

    def __init__(
        self, workers: int | None = None, limits: ProgramLimits | None = None, *, unsafe: bool = False
    ) -> None:
        self.isolation = isolations.resolve(unsafe=unsafe)
        self.limits = limits or ProgramLimits()
        self._pool = ProgramPool(self.isolation, workers or len(os.sched_getaffinity(0)), self.limits)

    async def call(
        self,
        tree: SourceTree,
        function: str,
        arguments: Mapping[str, Any],
        *,
        seconds: float,
        services: Mapping[str, Service] | None = None,
    ) -> ToolResult:
        """Call `module:function` of a tree with keyword arguments in a fresh confined process.

        When the awaiting task is cancelled, the process is killed.

        Args:
            tree: the program's files.
            function: such as `"tool:run"` or `"package.module:Class.method"`.
            arguments: JSON values.
            seconds: timeout of the function; imports have `limits.init_s`, and waiting for services is not counted.
            services: services that the program may request by name (`from heredity_guest import ask`). A service that
                raises a `HostError` ends the call, which raises it; an error about the request is raised in the
                program.

        Raises:
            ConfigError: if `function` is malformed, or an argument is not a JSON value.
            HostError: if the sandbox itself fails.
            IsolationError: if the program cannot be confined.
        """
        request = _encode({"function": _checked(function), "arguments": dict(arguments)})
        missing = _missing(tree, function)
        if missing is not None:
            return missing
        cpu_s = int(self.limits.init_s + self.limits.wall_s) + 1
        process = await self._pool.start(tree, services or {}, cpu_s)
        try:
            return await process.call(request, seconds)
        finally:
            self._pool.end(process)

    def open(
        self,
        tree: SourceTree,
        make: str,
        arguments: Mapping[str, Any],
        *,
        services: Mapping[str, Service] | None = None,
        processor: bool = False,
    ) -> Program:
        """Return a process that keeps the result of `module:Class` or `module:function`; enter it with `async with`.

        Args:
            tree: the program's files.
            make: the callable, such as `"world:World"`.
            arguments: its keyword arguments, JSON values. Constructing the object has `limits.init_s`, and so has
                importing.
            services: services that the program may request in any of its calls (see `call`).
            processor: count CPU time, which is independent of machine load, instead of wall time. Calls that only
                wait then end by wall time with the error `"unanswered"`, which says nothing about the program.

        Raises:
            ConfigError: if `make` is malformed, or an argument is not a JSON value.
        """
        request = _encode({"function": _checked(make), "arguments": dict(arguments), "keep": True})
        return Program(self._pool, tree, (make, request), services or {}, self.limits, processor=processor)

    async def close(self) -> None:
        """End every process; calls in progress raise `HostError`."""
        await self._pool.close()

    async def __aenter__(self) -> SandboxedPrograms:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class Program:
    """A confined process that keeps an object; created by `SandboxedPrograms.open`, entered with `async with`.

    Attributes:
        opened: the result of importing the program and constructing the object. Entering does not raise if that failed;
            every call then returns the same result.
    """

    def __init__(
        self,
        pool: ProgramPool,
        tree: SourceTree,
        make: tuple[str, bytes],
        services: Mapping[str, Service],
        limits: ProgramLimits,
        *,
        processor: bool = False,
    ) -> None:
        self._pool, self._tree, self._make, self._services, self._limits = pool, tree, make, services, limits
        self._processor = processor
        self._process: ProgramProcess | None = None
        self._calling = asyncio.Lock()
        self.opened = ToolResult(error="missing", message="the program is not open; enter it with `async with`")

    @property
    def alive(self) -> bool:
        """True while it answers calls: it is open, and no call was cancelled, timed out or broke the process."""
        return self._process is not None and self._process.alive and not self.opened.error

    async def call(self, method: str, arguments: Mapping[str, Any], *, seconds: float) -> ToolResult:
        """Call a method of the object with keyword arguments; concurrent calls are serialized.

        Raises:
            ConfigError: if `method` is not a name, or an argument is not a JSON value.
            HostError: if the sandbox itself fails, or a service does.
        """
        if not re.fullmatch(_NAME, method):
            raise ConfigError(f"{method!r} is not a method name")
        request = _encode({"method": method, "arguments": dict(arguments)})
        async with self._calling:
            if self._process is None or self.opened.error:
                return self.opened
            if not self._process.alive:
                return ToolResult(error="crash", message="the program has ended in an earlier call")
            return await self._process.call(request, seconds)

    async def __aenter__(self) -> Program:
        name, request = self._make
        missing = _missing(self._tree, name)
        if missing is not None:
            self.opened = missing
            return self
        self._process = await self._pool.start(
            self._tree, self._services, self._limits.kept_cpu_s, processor=self._processor
        )
        try:
            self.opened = await self._process.call(request, self._limits.init_s)
        except BaseException:
            self._end()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        self._end()

    def _end(self) -> None:
        if self._process is not None:
            self._pool.end(self._process)
            self._process = None
            self.opened = ToolResult(error="crash", message="the program is closed")


def _checked(function: str) -> str:
    if not _FUNCTION.fullmatch(function):
        raise ConfigError(f"{function!r} names no function; write it as 'module:function', such as 'tool:run'")
    return function


def _missing(tree: SourceTree, function: str) -> ToolResult | None:
    path = function.partition(":")[0].replace(".", "/")
    if f"{path}.py" in tree or f"{path}/__init__.py" in tree:
        return None
    return ToolResult(error="missing", message=f"the program has no {path}.py")


def _encode(request: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(request, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(f"the arguments of a program must be JSON values: {error}") from error
