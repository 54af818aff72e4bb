"""Container tasks without containers: a bubblewrap sandbox with a private, writable root and the host's read-only `/usr`."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import os
import socket
import tarfile
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, cast

from heredity._core.errors import CandidateError, ConfigError, HostError, IsolationError
from heredity._core.outside import resolved
from heredity.sandbox.bubblewrap_root import LINKED, Root, available, interpreter, seccomp_program
from heredity.sandbox.containers.contract import (
    GUARD,
    HOME,
    ContainerLimits,
    ExecResult,
    Image,
    Phase,
    Settled,
    verifiers_variables,
)
from heredity.sandbox.containers.task import ContainerTask

FIRST_PROCESS = Path(__file__).parent / "first_process.py"
"""The script that is the first process of a sandbox."""

LOGS = "/logs/verifier"
"""Folder for the verifier's reward."""

TESTS = "/tests"
"""Folder of the verifier's files."""

PYTHON = FIRST_PROCESS.parent / "guard"
"""Folder that every Python of a verifier reads first."""

_PACKING = FIRST_PROCESS.with_name("packing.py")
_INSIDE = f"{GUARD}/first_process.py"
_LEFT_OUT = (GUARD, "etc/ld.so.preload", *LINKED)
_VERIFIERS = (LOGS, TESTS)
CLOSED = (*_VERIFIERS, GUARD, "/proc", "/sys")
"""Forbidden targets of an agent's links during verification, which hold other files then."""

_LOGS_BYTES = 64 << 20
_SLACK_BYTES = 64 << 20
_START_S = 20.0
_CHUNK = 1 << 18
_PASSWD = b"root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
_GROUP = b"root:x:0:\nnogroup:x:65534:\n"
_HOSTS = b"127.0.0.1 localhost\n::1 localhost\n"


def system_path() -> str:
    """Return the PATH of every sandbox, made of read-only folders."""
    folders = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
    return ":".join((str(interpreter().parent), *folders))


class BubblewrapSandbox:
    """A sandbox whose disk is one bounded file system in memory.

    Commands run as a user who is nominally root, without capabilities, network, further namespaces, or host files
    other than programs. Cancelling a command's caller ends the command; cancelling a transfer ends the sandbox.

    Args:
        task: limits its resources.
        image: its initial content; an image without a name is empty.
        phase: its purpose.
        limits: further limits.
        folder: destination of the image made by `settle`.
    """

    def __init__(self, task: ContainerTask, image: Image, phase: Phase, limits: ContainerLimits, folder: Path) -> None:
        self._image, self._phase, self._limits, self._folder = image, phase, limits, folder
        self._memory, self._disk = limits.memory(task), limits.disk(task)
        self._process: asyncio.subprocess.Process | None = None
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._turn = asyncio.Lock()

    @property
    def environment(self) -> dict[str, str]:
        """The variables of every command."""
        own = {"HOME": "/root", "LANG": "C.UTF-8", "TMPDIR": "/tmp", "PYTHONDONTWRITEBYTECODE": "1"}
        if self._phase.verifying:
            return {**own, **verifiers_variables(self._image.env, self._phase.env, system_path())}
        return {**own, "PATH": system_path(), **self._image.env, **self._phase.env}

    async def start(self) -> None:
        """Start the first process and restore the image.

        Raises:
            IsolationError: if bubblewrap does not work here.
            CandidateError: if the image cannot be restored because its files obstruct each other.
        """
        reason = await asyncio.to_thread(available)
        if reason is not None:
            raise IsolationError(f"container tasks cannot be isolated: {reason}")
        try:
            await self._begin()
            if self._image.name:
                with await asyncio.to_thread(open, self._image.name, "rb") as file:
                    await self._unpack("/", cast("IO[bytes]", file))
        except BaseException:
            await self.stop()
            raise

    async def exec(
        self, command: str, *, timeout_s: float = 60.0, env: Mapping[str, str] | None = None, workdir: str | None = None
    ) -> ExecResult:
        """Run a command with bash and wait for it.

        Raises:
            HostError: if the sandbox is gone.
        """
        request = {
            "do": "exec",
            "command": ["/bin/bash", "-c", command],
            "env": {**self.environment, **(env or {})},
            "workdir": workdir or self._image.workdir,
            "seconds": timeout_s,
            "output_bytes": self._limits.output_bytes,
        }
        async with self._exchange(request) as (reader, writer):
            answering = asyncio.ensure_future(self._answer(reader))
            try:
                return ExecResult(**await asyncio.shield(answering))
            except asyncio.CancelledError:
                # A caller that stops waiting may still want the command's effects so far.
                writer.write(_message({"do": "interrupt"}))
                await answering
                raise

    async def upload(self, source: Path, target: str, *, mode: int | None = None) -> None:
        """Copy a file to a path, or a folder's content into a folder.

        Raises:
            CandidateError: if the space does not suffice, or something blocks the target.
        """
        with tempfile.TemporaryFile() as file:
            folder = await asyncio.to_thread(_pack_host, source, target, file, mode)
            file.seek(0)
            await self._unpack(folder, file)

    async def download(self, source: str, target: Path) -> None:
        """Fetch a file to a path, or a folder's content into a folder: files and folders only, no links.

        Raises:
            CandidateError: if the source does not exist or is too large.
        """
        with tempfile.TemporaryFile() as file:
            packed = await self._pack(source, (), file)
            file.seek(0)
            await asyncio.to_thread(_unpack_host, file, target, folder=packed["folder"])

    async def settle(self) -> Settled:
        """End all of its processes and save its disk; only `stop` may follow.

        Raises:
            CandidateError: if the content exceeds the limits.
        """
        reply = await self._ask(do="quiet")
        mine, closed = ((LOGS,), ()) if self._phase.building else (_VERIFIERS, CLOSED)
        descriptor, name = tempfile.mkstemp(suffix=".tar", dir=self._folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                packed = await self._pack("/", (*mine, *_LEFT_OUT), file, closed)
        except BaseException:
            os.unlink(name)
            raise
        ours = tuple(f"/{path.strip('/')}/" for path in _LEFT_OUT if path != "etc/ld.so.preload")
        discarded = tuple(path for path in packed["found"] if not f"{path}/".startswith(ours))
        full = reply["disk_free"] < self._disk // 100
        return Settled(replace(self._image, name=name), tuple(reply["ended"]), discarded, full, reply["exceeded"])

    async def quiet(self) -> None:
        """End all of its processes."""
        await self._ask(do="quiet")

    async def stop(self) -> None:
        """End all of its processes, and remove it."""
        streams, self._streams = self._streams, None
        if streams is not None:
            streams[1].close()
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def _begin(self) -> None:
        ours, theirs = socket.socketpair()
        with contextlib.ExitStack() as stack:
            stack.callback(theirs.close)
            texts = (seccomp_program(), _PASSWD, _GROUP, _HOSTS)
            files = [_inherited(stack, text) for text in texts]
            self._process = await asyncio.create_subprocess_exec(
                *self._command(theirs.fileno(), files),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                env={},
                pass_fds=(theirs.fileno(), *files),
                start_new_session=True,
            )
        self._streams = await asyncio.open_connection(sock=ours)
        try:
            async with asyncio.timeout(_START_S):
                await self._answer(self._streams[0])
        except (TimeoutError, asyncio.IncompleteReadError, ConnectionError) as error:
            self._process.kill()
            output = await self._process.stderr.read() if self._process.stderr else b""
            raise IsolationError(
                f"a sandbox did not start: {output.decode('utf-8', 'replace').strip()[:500]}"
            ) from error

    def _command(self, channel: int, files: Sequence[int]) -> list[str]:
        seccomp, passwd, group, hosts = files
        verifying = self._phase.verifying
        root = Root(
            seccomp,
            dict.fromkeys(("/dev/shm", *((LOGS, HOME) if verifying else ())), _LOGS_BYTES),
            user=0,
            # The first process ends them all above the limit; the kernel starts none far beyond that.
            processes=2 * self._limits.processes,
            root_bytes=self._disk + (_SLACK_BYTES if verifying else 0),
        )
        for descriptor, name in ((passwd, "passwd"), (group, "group"), (hosts, "hosts")):
            root.add_file(descriptor, f"/etc/{name}")
        root.show(FIRST_PROCESS, _INSIDE)
        root.show(_PACKING, f"{GUARD}/packing.py")
        root.add_folder(LOGS)
        if verifying:
            root.show(PYTHON, f"{GUARD}/python")
        own = map(str, (channel, self._memory, self._limits.processes, self._disk))
        return root.command([str(interpreter()), "-I", "-S", _INSIDE, *own], folder="/")

    async def _ask(self, **request: Any) -> dict[str, Any]:
        async with self._exchange(request) as (reader, _):
            return await self._answer(reader)

    async def _unpack(self, target: str, archive: IO[bytes]) -> None:
        async with self._exchange({"do": "unpack", "target": target}) as (reader, writer):
            while chunk := archive.read(_CHUNK):
                writer.write(len(chunk).to_bytes(4, "big") + chunk)
                await writer.drain()
            writer.write(bytes(4))
            answer = await self._answer(reader)
        if answer["error"]:
            raise CandidateError(f"nothing can be put into {target} of the sandbox: {answer['error']}")

    async def _pack(
        self, root: str, left_out: Sequence[str], archive: IO[bytes], closed: Sequence[str] = ()
    ) -> dict[str, Any]:
        # An archive has a header of 512 bytes and up to as much padding for each file.
        most = 2 * self._disk + 2048 * self._limits.files
        request = {"do": "pack", "root": root, "left_out": list(left_out), "closed": list(closed), "most_bytes": most}
        async with self._exchange({**request, "most_files": self._limits.files}) as (reader, _):
            while size := int.from_bytes(await reader.readexactly(4), "big"):
                archive.write(await reader.readexactly(size))
            answer = await self._answer(reader)
        if answer["error"]:
            raise CandidateError(f"{root} of the sandbox cannot be kept: {answer['error']}")
        archive.flush()
        return answer

    @contextlib.asynccontextmanager
    async def _exchange(
        self, request: Mapping[str, Any]
    ) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        async with self._turn:
            if self._streams is None:
                raise HostError("the sandbox is not running; start it first, and not after it was stopped")
            try:
                self._streams[1].write(_message(request))
                yield self._streams
            except (asyncio.IncompleteReadError, ConnectionError) as error:
                await self.stop()
                raise HostError("the sandbox ended unexpectedly; try again") from error
            except asyncio.CancelledError:
                if request["do"] != "exec":
                    await self.stop()
                raise

    @staticmethod
    async def _answer(reader: asyncio.StreamReader) -> dict[str, Any]:
        size = int.from_bytes(await reader.readexactly(4), "big")
        return json.loads(await reader.readexactly(size))


def _message(request: Mapping[str, Any]) -> bytes:
    data = json.dumps(request).encode()
    return len(data).to_bytes(4, "big") + data


def _inherited(stack: contextlib.ExitStack, text: bytes) -> int:
    file = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
    file.write(text)
    file.seek(0)
    return file.fileno()


def _pack_host(source: Path, target: str, file: IO[bytes], mode: int | None) -> str:
    """Pack a file or a folder's content of the host; return its destination folder in the sandbox."""
    if not source.exists():
        raise ConfigError(f"{source} does not exist, and is to be put into a sandbox; correct the path")

    def owned(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        if "__pycache__" in member.name.split("/"):
            return None
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        if mode is not None and not member.issym():
            member.mode = mode | (0o111 if member.isdir() else 0)
        return member

    with tarfile.open(fileobj=file, mode="w") as archive:
        if source.is_dir():
            for path in sorted(source.iterdir()):
                archive.add(path, path.name, filter=owned)
            return target
        name = source.name if target.endswith("/") else target.rpartition("/")[2]
        archive.add(source.resolve(), name, filter=owned)
        return target if target.endswith("/") else target.rpartition("/")[0] or "/"


def _unpack_host(file: IO[bytes], target: Path, *, folder: bool) -> None:
    """Write the content of a sandbox's archive: paths are checked, and only files and folders are created."""
    with tarfile.open(fileobj=file, mode="r") as archive:
        members = [member for member in archive if member.isreg() or member.isdir()]
        if folder:
            target.mkdir(parents=True, exist_ok=True)
        elif not members:
            raise CandidateError("what was to be fetched from the sandbox is neither a file nor a folder")
        for member in members:
            path = target / member.name if folder else target
            if not resolved(path).is_relative_to(resolved(target)):
                raise CandidateError(
                    f"the sandbox has a file of the name {member.name!r}, which leads out of its folder"
                )
            try:
                if member.isdir():
                    path.mkdir(parents=True, exist_ok=True)
                elif (content := archive.extractfile(member)) is not None:
                    path.write_bytes(content.read())
                    path.chmod(0o755 if member.mode & 0o100 else 0o644)
            except OSError as error:
                if error.errno != errno.ENAMETOOLONG:
                    raise
                raise CandidateError(
                    f"the sandbox has a path of {len(member.name)} characters, too long to fetch"
                ) from error
