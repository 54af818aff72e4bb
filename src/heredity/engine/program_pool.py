"""Process pool for sandboxed programs: zygotes to fork from, folders with program files, and scratch slots."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heredity._core.engine_folder import EngineFolder
from heredity._core.errors import HostError
from heredity.engine.actor import Service
from heredity.engine.program_process import ProgramLimits, ProgramProcess, Turn
from heredity.resources import SourceTree
from heredity.sandbox import isolation as isolations
from heredity.sandbox.async_zygote import AsyncZygote
from heredity.sandbox.zygote import Worker

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
