"""The first process of an agent's sandbox. Standard library only; imports nothing of Heredity.

    relay.py [--socket PATH] [--broker PATH] [--processes N] [--file-bytes N] -- COMMAND [ARGUMENT ...]

A sandbox has a separate network, in which only this relay listens. It forwards a free port of 127.0.0.1 to the run's
Unix socket if there is one, and another to that of a broker of language models, so that agents that only know URLs
work unchanged. It starts the command, forwards signals to it, reaps orphans, and ends with the command's exit code.
As the first process of its namespace it takes every other process of the sandbox with it.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import errno
import fcntl
import os
import resource
import selectors
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Sequence
from types import FrameType
from typing import cast

MOST_CONNECTIONS = 256
"""Limit on simultaneous connections, for all ports together."""

_SIOCGIFFLAGS = 0x8913
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1
_CHUNK = 1 << 16
_SILENT_S = 60.0
_LINGER_S = 5.0
_PAUSE_S = 0.1
_LOOK_S = 1.0
_FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
PR_SET_DUMPABLE = 4
EXIT_NOT_STARTED = 127


def main(arguments: list[str] | None = None) -> int:
    """Run a command behind the relay and return its exit code (128 + N when signal N ended it)."""
    parser = argparse.ArgumentParser(
        prog="relay", description="Forward a local port to the run's socket and run a command."
    )
    parser.add_argument("--socket")
    parser.add_argument("--broker")
    parser.add_argument("--processes", type=int, default=0)
    parser.add_argument("--file-bytes", type=int, default=0)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    libc = ctypes.CDLL(None)
    raise_loopback()
    # The command runs as the same user and must not read this process's memory.
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    doors = [(socket.create_server(("127.0.0.1", 0)), path) for path in (options.socket, options.broker) if path]
    urls = [f"http://127.0.0.1:{listener.getsockname()[1]}" for listener, _ in doors]
    session, broker = urls[: bool(options.socket)], urls[bool(options.socket) :]
    environment = {**(broker_addresses(broker[0]) if broker else {}), **os.environ}
    environment |= addresses(session[0]) if session else {}

    def limit() -> None:
        # The command itself is dumpable: otherwise it could not open its files below /proc.
        libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
        _limit(resource.RLIMIT_NPROC, options.processes)
        _limit(resource.RLIMIT_FSIZE, options.file_bytes)
        offer_to_the_kernel()

    forwarding = _Forwarding()
    try:
        # A separate group: a signal for the agent then also reaches its foreground children. No thread runs, so the
        # limits can be set between fork and exec: they apply to the agent, not the relay.
        child = subprocess.Popen(command, env=environment, process_group=0, preexec_fn=limit)  # noqa: PLW1509
    except OSError as error:
        sys.stderr.write(f"the command cannot be started: {error}\n")
        return EXIT_NOT_STARTED
    forwarding.start(child.pid)
    return Doors(doors).serve_until(child.pid)


def addresses(url: str) -> dict[str, str]:
    """Return the environment variables with the addresses of an agent's run."""
    return {
        "HEREDITY_URL": url,
        "GRADING_SERVER_URL": url,
        "EVOPOLICYGYM_API": url,
        "EVOPOLICYGYM_INFO_URL": f"{url}/info",
        "EVOPOLICYGYM_TASK_URL": f"{url}/task",
        "EVOPOLICYGYM_SUBMIT_URL": f"{url}/submit",
    }


def broker_addresses(url: str) -> dict[str, str]:
    """Return the environment variables with a broker's address for OpenAI's, Anthropic's and Google's clients."""
    return {"OPENAI_BASE_URL": f"{url}/v1", "ANTHROPIC_BASE_URL": url, "GOOGLE_GEMINI_BASE_URL": url}


def broker_keys(token: str) -> dict[str, str]:
    """Return the environment variables in which these clients look for a key, with a broker's token."""
    return dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"), token)


def raise_loopback() -> None:
    """Bring the loopback interface up where needed and allowed."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock, contextlib.suppress(OSError):
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(sock, _SIOCGIFFLAGS, request))[1]
        if not flags & _IFF_UP:
            fcntl.ioctl(sock, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))


def _limit(kind: int, value: int) -> None:
    if value > 0:
        hard = resource.getrlimit(kind)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (bound, bound))


def offer_to_the_kernel() -> None:
    """Make the agent the first to be killed when the machine runs out of memory, before the run's process."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")


class _Forwarding:
    """Forwards signals to the command's group; those that arrive before its start wait."""

    def __init__(self) -> None:
        self._group = 0
        self._waiting: list[int] = []
        for number in _FORWARDED:
            signal.signal(number, self._forward)

    def start(self, group: int) -> None:
        self._group = group
        while self._waiting:
            self._forward(self._waiting.pop(0), None)

    def _forward(self, number: int, _frame: FrameType | None) -> None:
        if not self._group:
            self._waiting.append(number)
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._group, number)


def reap(pid: int) -> int | None:
    """Reap all processes that have ended; return the exit code of `pid` if it is one of them (128 + N for signal N)."""
    while True:
        try:
            ended, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return EXIT_NOT_STARTED
        if not ended:
            return None
        if ended == pid:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


class _Connection:
    """A connection to a port and its counterpart at the Unix socket.

    Attributes:
        waiting: data still to be written to each end.
        ended: the ends that are closed (for reading).
        spoken: whether any data was ever sent.
        used: time of the last data.
        open: whether it is open.
    """

    def __init__(self, inside: socket.socket, outside: socket.socket) -> None:
        self.inside, self.outside = inside, outside
        self.waiting = {inside: b"", outside: b""}
        self.ended: set[socket.socket] = set()
        self.spoken, self.used, self.open = False, time.monotonic(), True

    def read(self, end: socket.socket) -> None:
        """Read data from an end."""
        data, other = end.recv(_CHUNK), self._other(end)
        self.spoken, self.used = self.spoken or bool(data), time.monotonic()
        if not data:
            self.ended.add(end)
        if self.outside in self.ended:
            self.waiting[self.outside] = b""  # the host has closed: further data is dropped
        elif data or other is self.inside:
            self.waiting[other] += data
        self._pass_end(other)

    def write(self, end: socket.socket) -> None:
        """Write an end's waiting data."""
        try:
            self.waiting[end] = self.waiting[end][end.send(self.waiting[end]) :]
        except ConnectionError:
            if end is self.inside:
                raise
            self.waiting[end] = b""  # the host has stopped reading; its answer may still be read
        self._pass_end(end)

    def interest(self, end: socket.socket) -> int:
        """Return what to wait for at an end; a full buffer stops the reading that fills it."""
        reads = end not in self.ended and not self.waiting[self._other(end)]
        return reads * selectors.EVENT_READ | bool(self.waiting[end]) * selectors.EVENT_WRITE

    def close(self) -> None:
        """Close both ends."""
        self.inside.close()
        self.outside.close()

    def stale(self, now: float) -> bool:
        """Return whether neither end has ever sent data, or the host has closed and the other end has not."""
        closed = self.outside in self.ended and not self.waiting[self.inside]
        return (closed and now - self.used > _LINGER_S) or (not self.spoken and now - self.used > _SILENT_S)

    def _other(self, end: socket.socket) -> socket.socket:
        return self.outside if end is self.inside else self.inside

    def _pass_end(self, end: socket.socket) -> None:
        if not self.waiting[end] and self._other(end) in self.ended:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_WR)
        self.open = len(self.ended) < 2 or bool(self.waiting[self.inside])


class Doors:
    """Forwards connections of some ports to Unix sockets, in the thread that waits for the command.

    A connection needs no thread or process, because the command may have used them all. An error ends only the
    connection concerned. Above the limit, the longest silent connection is closed, starting with those that never
    sent data.

    Args:
        doors: listening sockets, each with the path of a Unix socket.
    """

    def __init__(self, doors: Sequence[tuple[socket.socket, str]]) -> None:
        self._selector, self._paths = selectors.DefaultSelector(), dict(doors)
        self._waiting: dict[socket.socket, _Connection] = {}
        self._resting: dict[socket.socket, float] = {}
        self._connections: list[_Connection] = []
        self._looked = 0.0
        for listener in self._paths:
            listener.setblocking(False)
            self._selector.register(listener, selectors.EVENT_READ)

    def serve_until(self, pid: int) -> int:
        """Forward, and reap processes, until `pid` ends; return its exit code (128 + N when signal N ended it)."""
        reading, writing = os.pipe()
        for descriptor in (reading, writing):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        self._selector.register(reading, selectors.EVENT_READ)
        while (code := reap(pid)) is None:
            for key, events in self._selector.select(_PAUSE_S if self._resting else _LOOK_S):
                if key.fd == reading:
                    os.read(reading, _CHUNK)
                elif key.data is None:
                    self._accept(cast(socket.socket, key.fileobj))
                else:
                    self._forward(key.data, cast(socket.socket, key.fileobj), events)
            self._tidy()
        return code

    def _accept(self, listener: socket.socket) -> None:
        try:
            connection = self._waiting.pop(listener, None) or _accepted(listener)
        except OSError as error:  # the client is gone, or no descriptor is free
            if error.errno in (errno.EMFILE, errno.ENFILE) and self._connections:
                self._make_room()
            else:
                self._rest(listener)
            return
        try:
            connection.outside.connect(self._paths[listener])
        except BlockingIOError:  # the host has not accepted the earlier ones
            self._waiting[listener] = connection
            self._rest(listener)
            return
        except OSError:
            connection.close()
            return
        if len(self._connections) >= MOST_CONNECTIONS:
            self._make_room()
        self._connections.append(connection)
        self._wait(connection)

    def _make_room(self) -> None:
        self._drop(min(self._connections, key=lambda connection: (connection.spoken, connection.used)))

    def _rest(self, listener: socket.socket) -> None:
        if listener not in self._resting:
            self._selector.unregister(listener)
        self._resting[listener] = time.monotonic() + _PAUSE_S

    def _forward(self, connection: _Connection, end: socket.socket, events: int) -> None:
        if not connection.open:
            return
        try:
            if events & selectors.EVENT_WRITE:
                connection.write(end)
            if events & selectors.EVENT_READ:
                connection.read(end)
        except BlockingIOError:
            pass
        except OSError:
            connection.open = False
        if connection.open:
            self._wait(connection)
        else:
            self._drop(connection)

    def _wait(self, connection: _Connection) -> None:
        watched = self._selector.get_map()
        for end in (connection.inside, connection.outside):
            interest = connection.interest(end)
            if end not in watched:
                if interest:
                    self._selector.register(end, interest, connection)
            elif interest:
                self._selector.modify(end, interest, connection)
            else:
                self._selector.unregister(end)

    def _drop(self, connection: _Connection) -> None:
        connection.open = False
        self._connections.remove(connection)
        for end in (connection.inside, connection.outside):
            if end in self._selector.get_map():
                self._selector.unregister(end)
        connection.close()

    def _tidy(self) -> None:
        now = time.monotonic()
        for listener in [listener for listener, until in self._resting.items() if now >= until]:
            del self._resting[listener]
            self._selector.register(listener, selectors.EVENT_READ)
            if listener in self._waiting:
                self._accept(listener)
        if now - self._looked > _LOOK_S:
            self._looked = now
            for connection in [connection for connection in self._connections if connection.stale(now)]:
                self._drop(connection)


def _accepted(listener: socket.socket) -> _Connection:
    """Return a connection to a port, its counterpart not yet connected."""
    outside = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        inside, _ = listener.accept()
    except OSError:
        outside.close()
        raise
    connection = _Connection(inside, outside)
    try:
        inside.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for end in (inside, outside):
            end.setblocking(False)
    except OSError:
        connection.close()
        raise
    return connection


if __name__ == "__main__":
    sys.exit(main())
