"""The first process of a container task's sandbox. Standard library only, with `packing.py` in the same folder.

    first_process.py DESCRIPTOR MEMORY PROCESSES FILE_BYTES

It serves the host's requests over that socket, one at a time: run a command, unpack or pack an archive, end every
other process. A message is its length in four bytes and JSON; an archive is chunks, each with its length, the last
one empty. Commands inherit none of its descriptors, and cannot trace it. It watches the total memory and number of
all processes, and ends them above the limits: the kernel's limits are per process. Every other process ends with it.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from typing import Any

# Started with -I, which leaves the script's own folder out. Commands may write to it, so nothing is imported from there
# later.
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(__file__))

from packing import Links, Packing, TooMuchError  # noqa: E402

del sys.path[0]

_PR_SET_DUMPABLE = 4
_CHUNK = 1 << 18
_TICK_S = 0.02
_IDLE_S = 0.1
_DRAIN = 64
_PAGE = os.sysconf("SC_PAGE_SIZE")


class _Channel:
    """The socket to the host."""

    def __init__(self, descriptor: int) -> None:
        self.socket = socket.socket(fileno=descriptor)
        self._file = self.socket.makefile("rb")

    def request(self) -> dict[str, Any] | None:
        """Return the next message, or None once the host is gone."""
        size = self._file.read(4)
        return json.loads(self._file.read(int.from_bytes(size, "big"))) if len(size) == 4 else None

    def answer(self, value: dict[str, Any]) -> None:
        """Send a message."""
        data = json.dumps(value).encode()
        self.socket.sendall(len(data).to_bytes(4, "big") + data)

    def chunks(self) -> Iterator[bytes]:
        """Yield the host's chunks, up to the empty one."""
        while size := int.from_bytes(self._file.read(4), "big"):
            yield self._file.read(size)

    def send_chunk(self, data: bytes) -> None:
        """Send a part of an archive; an empty one ends it."""
        self.socket.sendall(len(data).to_bytes(4, "big") + data)


class _Reading(io.RawIOBase):
    """An archive received in chunks."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks, self._rest = chunks, b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while size < 0 or len(self._rest) < size:
            more = next(self._chunks, b"")
            if not more:
                break
            self._rest += more
        size = len(self._rest) if size < 0 else size
        piece, self._rest = self._rest[:size], self._rest[size:]
        return piece


class _Writing(io.RawIOBase):
    """An archive sent in chunks, up to a limit."""

    def __init__(self, channel: _Channel, most: int) -> None:
        self._channel, self._most, self._size = channel, most, 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._size += len(data)
        if self._size > self._most:
            raise TooMuchError(f"it has more than {self._most} bytes")
        if data:
            self._channel.send_chunk(bytes(data))
        return len(data)


class _Output:
    """A command's output: its start and its end, up to a limit."""

    def __init__(self, most: int) -> None:
        self._half, self._head, self._tail, self.size = most // 2, bytearray(), bytearray(), 0

    def add(self, data: bytes) -> None:
        self.size += len(data)
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail = (self._tail + data[room:])[-self._half :] if len(data) > room else self._tail

    def text(self) -> str:
        left_out = self.size - len(self._head) - len(self._tail)
        between = f"\n[{left_out} bytes left out]\n".encode() if left_out else b""
        return bytes(self._head + between + self._tail).decode("utf-8", "replace")


class FirstProcess:
    """Answers the host's requests.

    Args:
        channel: the socket to the host.
        memory: memory limit of all processes together, and of each one's data, in bytes.
        processes: limit on simultaneous processes.
        file_bytes: size of the largest file.
    """

    def __init__(self, channel: _Channel, memory: int, processes: int, file_bytes: int) -> None:
        self._channel, self._memory, self._processes, self._file_bytes = channel, memory, processes, file_bytes
        self._exceeded, self._watched = "", 0.0
        self._own_links: dict[str, str] | None = None

    def serve(self) -> None:
        """Answer requests until the host is gone."""
        while True:
            ready, _, _ = select.select([self._channel.socket], [], [], _IDLE_S)
            self._watch()
            self._reap(0)
            if not ready:
                continue
            request = self._channel.request()
            if request is None:
                return
            if request["do"] == "interrupt":
                continue  # The command to interrupt has ended and was answered meanwhile.
            self._channel.answer(getattr(self, f"_do_{request['do']}")(request))

    def _do_exec(self, asked: dict[str, Any]) -> dict[str, Any]:
        self._exceeded, started = "", time.monotonic()
        try:
            child = subprocess.Popen(
                asked["command"],
                env=asked["env"],
                cwd=asked["workdir"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                preexec_fn=self._limit,  # noqa: PLW1509 - no thread runs here
            )
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            return {"code": 127, "stdout": "", "stderr": f"{error}\n", "reason": "not_started", "seconds": 0.0}
        code, timed_out, outputs = self._follow(child, asked["seconds"], asked["output_bytes"])
        reason, texts = "timeout" if timed_out else self._exceeded or "exited", [output.text() for output in outputs]
        seconds = time.monotonic() - started
        return {"code": code, "stdout": texts[0], "stderr": texts[1], "reason": reason, "seconds": seconds}

    def _follow(self, child: subprocess.Popen[bytes], seconds: float, most: int) -> tuple[int, bool, list[_Output]]:
        """Wait for a command, reading its output; background processes do not delay its end."""
        assert child.stdout is not None
        assert child.stderr is not None
        outputs = {child.stdout.fileno(): _Output(most), child.stderr.fileno(): _Output(most)}
        kept, deadline, code, timed_out = list(outputs.values()), time.monotonic() + seconds, None, False
        for descriptor in outputs:
            os.set_blocking(descriptor, False)
        host, ending = list[Any]([self._channel.socket]), os.pidfd_open(child.pid)
        while code is None:
            ready, _, _ = select.select([*outputs, *host, ending], [], [], _TICK_S)
            if self._channel.socket in ready:
                # The host waits for the answer: its only possible message is an interrupt.
                host, deadline = [], 0.0
                self._channel.request()
            for descriptor in outputs.keys() & ready:
                if not _read(descriptor, outputs[descriptor]):
                    del outputs[descriptor]
            self._watch()
            code = self._reap(child.pid)
            if code is None and not timed_out and time.monotonic() > deadline:
                timed_out = True
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
        for descriptor, output in outputs.items():
            # Limited: background processes may continue writing.
            for _ in range(_DRAIN):
                _read(descriptor, output)
        os.close(ending)
        child.stdout.close()
        child.stderr.close()
        child.returncode = code
        return code, timed_out, kept

    def _limit(self) -> None:
        for kind, value in (
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_DATA, self._memory),
            (resource.RLIMIT_FSIZE, self._file_bytes),
            (resource.RLIMIT_NPROC, self._processes),
        ):
            hard = resource.getrlimit(kind)[1]
            bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (bound, bound))

    def _watch(self) -> None:
        """End every other process if together they exceed a limit."""
        if time.monotonic() - self._watched < _TICK_S:
            return
        self._watched, others = time.monotonic(), _others()
        if len(others) > self._processes:
            self._exceeded = "processes"
        elif sum(map(_private_bytes, others)) > self._memory:
            self._exceeded = "memory"
        else:
            return
        _end_others()

    def _reap(self, waited: int) -> int | None:
        """Reap all processes that have ended; return the exit code of `waited` if it is one of them."""
        code = None
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == waited:
                    code = os.waitstatus_to_exitcode(ended[1])
        return code if code is None or code >= 0 else 128 - code

    def _do_unpack(self, asked: dict[str, Any]) -> dict[str, Any]:
        chunks = self._channel.chunks()
        try:
            os.makedirs(asked["target"], exist_ok=True)
            with tarfile.open(fileobj=_Reading(chunks), mode="r|", errorlevel=1) as archive:
                # The archive is as trusted as this process: the sandbox confines both.
                archive.extraction_filter = lambda member, _path: member
                archive.extractall(asked["target"])
                if self._own_links is None:  # the image: no agent has worked here yet
                    self._own_links = {f"/{m.name}": m.linkname for m in archive.getmembers() if m.issym()}
        except (OSError, tarfile.TarError) as error:
            return {"error": str(error)}
        finally:
            for _ in chunks:
                pass
        return {"error": ""}

    def _do_pack(self, asked: dict[str, Any]) -> dict[str, Any]:
        error, paths, folder = "", list[str](), os.path.isdir(asked["root"]) and not os.path.islink(asked["root"])
        try:
            links = Links(asked["closed"], self._own_links or {})
            packing = Packing(asked["root"], asked["left_out"], asked["most_files"], paths, links)
            with tarfile.open(
                fileobj=_Writing(self._channel, asked["most_bytes"]), mode="w|", dereference=False
            ) as archive:
                packing.add_all(archive, folder=folder)
        except (OSError, tarfile.TarError, TooMuchError) as caught:
            error = str(caught)
        except RecursionError:
            # The creator of the folders is at fault, not this machine, which it would be if this process died of it.
            error = "its folders stand too deep in each other"
        self._channel.send_chunk(b"")
        return {"error": error, "found": paths, "folder": folder}

    def _do_quiet(self, _asked: dict[str, Any]) -> dict[str, Any]:
        # A zombie has no command line.
        commands = list(filter(None, map(_command, _others())))
        _end_others()
        while True:
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                break
        disk = os.statvfs("/")
        return {"ended": commands, "disk_free": disk.f_bavail * disk.f_frsize, "exceeded": self._exceeded}


def _read(descriptor: int, output: _Output) -> bool:
    try:
        data = os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return True
    output.add(data)
    return bool(data)


def _others() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and name != "1"]


def _private_bytes(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            fields = file.read().split()
    except OSError:
        return 0
    return (int(fields[1]) - int(fields[2])) * _PAGE


def _command(pid: int) -> str:
    cmdline = b""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
        cmdline = file.read(200)
    return cmdline.replace(b"\0", b" ").decode("utf-8", "replace").strip()


def _end_others() -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)


def main() -> None:
    """Serve the host until it is gone."""
    # A process of the same user can neither trace a non-dumpable process nor read it through /proc.
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    descriptor, *bounds = map(int, sys.argv[1:])
    channel = _Channel(descriptor)
    channel.answer({"ready": True})
    FirstProcess(channel, *bounds).serve()


if __name__ == "__main__":
    main()
