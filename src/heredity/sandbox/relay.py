"""The first process of an agent's sandbox. Standard library only; imports nothing of Heredity.

    relay.py [--socket PATH] [--broker PATH] [--processes N] [--file-bytes N] -- COMMAND [ARGUMENT ...]

A sandbox has a network of its own, in which nothing but this relay listens: it forwards a free port of 127.0.0.1 to
the run's Unix socket if there is one, and another to that of a broker of language models, so that agents that only know
URLs work unchanged. It starts the command, passes signals on to it, reaps whatever the command leaves behind, and ends
with the command's exit code. As the first process of its namespace it takes every other process of the sandbox with it.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import fcntl
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
from types import FrameType

_SIOCGIFFLAGS = 0x8913
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1
_CHUNK = 1 << 16
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
    # Its memory is none of the command's, which runs as the same user and could read it.
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    doors = [(socket.create_server(("127.0.0.1", 0)), path) for path in (options.socket, options.broker) if path]
    urls = [f"http://127.0.0.1:{listener.getsockname()[1]}" for listener, _ in doors]
    session, broker = urls[: bool(options.socket)], urls[bool(options.socket) :]
    environment = {**(broker_addresses(broker[0]) if broker else {}), **os.environ}
    environment |= addresses(session[0]) if session else {}

    def limit() -> None:
        # The command itself is as any other: without this it could not even open its own files below /proc.
        libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
        _limit(resource.RLIMIT_NPROC, options.processes)
        _limit(resource.RLIMIT_FSIZE, options.file_bytes)
        offer_to_the_kernel()

    forwarding = _Forwarding()
    try:
        # A group of its own: a signal for the agent then also reaches what it started in the foreground.
        # No thread runs yet, so that the limits can be set between fork and exec: they bind the agent, not the relay.
        child = subprocess.Popen(command, env=environment, process_group=0, preexec_fn=limit)  # noqa: PLW1509
    except OSError as error:
        sys.stderr.write(f"the command cannot be started: {error}\n")
        return EXIT_NOT_STARTED
    forwarding.start(child.pid)
    for door in doors:
        threading.Thread(target=accept, args=door, daemon=True).start()
    return reap_until(child.pid)


def addresses(url: str) -> dict[str, str]:
    """Return the environment variables that tell an agent where its run answers."""
    return {
        "HEREDITY_URL": url,
        "GRADING_SERVER_URL": url,
        "EVOPOLICYGYM_API": url,
        "EVOPOLICYGYM_INFO_URL": f"{url}/info",
        "EVOPOLICYGYM_TASK_URL": f"{url}/task",
        "EVOPOLICYGYM_SUBMIT_URL": f"{url}/submit",
    }


def broker_addresses(url: str) -> dict[str, str]:
    """Return the environment variables by which OpenAI's and Anthropic's clients find a broker."""
    return {"OPENAI_BASE_URL": f"{url}/v1", "ANTHROPIC_BASE_URL": url}


def raise_loopback() -> None:
    """Bring the loopback interface up where that is still to be done and allowed."""
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
    """Make the agent what ends first where the machine runs out of memory, before the run's own process."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")


class _Forwarding:
    """Passes signals on to the command's group; those that come before it has started wait for it."""

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


def reap_until(pid: int) -> int:
    """Wait for whatever ends, until this process does, and return its exit code."""
    while True:
        try:
            ended, status = os.waitpid(-1, 0)
        except ChildProcessError:
            return EXIT_NOT_STARTED
        if ended == pid:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def accept(listener: socket.socket, path: str) -> None:
    """Forward each connection of a port to a Unix socket."""
    while True:
        inside, _ = listener.accept()
        inside.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        outside = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            outside.connect(path)
        except OSError:
            inside.close()
            outside.close()
            continue
        for source, target in ((inside, outside), (outside, inside)):
            threading.Thread(target=_copy, args=(source, target), daemon=True).start()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(_CHUNK):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    sys.exit(main())
