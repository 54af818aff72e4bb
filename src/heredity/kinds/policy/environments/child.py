"""User environments, each in a separate process, so that a crash of their code ends only that process.

The process is bounded: every request has a timeout, memory is limited, output is captured, and it ends with the thread
that started it. Nothing it sends is unpickled. It is not a sandbox: its code has the user's rights.
"""

from __future__ import annotations

import collections
import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any, NoReturn

import gymnasium

from heredity._core.errors import ConfigError, HostError
from heredity.kinds.policy.environments.wire import decode, encode, unpack_space

TIMEOUT_VARIABLE = "HEREDITY_ENVIRONMENT_TIMEOUT_S"
"""Environment variable: timeout of one reset, step or rendering of a user environment, in seconds."""

CALL_S = 60.0
"""Default timeout of one reset, step or rendering, in seconds."""

MAKE_S = 120.0
"""Default timeout for importing an environment's module and constructing it, in seconds."""

LEAST_MAKE_S = 20.0
"""Minimum of that timeout, whatever the variable: a process has to start and may import a lot."""

_DOING: dict[str, str] = dict.fromkeys(("make", "describe"), "importing its module and constructing it")
_CLOSE_S = 5.0
_MOST_BYTES = 1 << 28
_KEPT_LINES, _KEPT_READS = 3, 16
_MODULE = "heredity.kinds.policy.environments.child_process"
_KINDS = {kind.__name__: kind for kind in (ConfigError, HostError)}


class EnvironmentFailedError(HostError):
    """The code of an environment raised an error, ended its process, or timed out.

    Attributes:
        what: the operation, such as `reset`.
        timed_out: true if it timed out.
    """

    def __init__(self, what: str, message: str, *, timed_out: bool = False) -> None:
        self.what, self.timed_out = what, timed_out
        super().__init__(message)


class ChildProcess:
    """A process with at most one environment, which answers one request at a time.

    Args:
        name: name of the environment, for messages.
        hash_seed: its PYTHONHASHSEED: pinned, so that the order of a set is the same in every process.

    Attributes:
        timed_out: true if it was ended because a request timed out.
    """

    def __init__(self, name: str, hash_seed: int = 0) -> None:
        self._name = name
        self._socket, theirs = socket.socketpair()
        output, writes = os.pipe()
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", _MODULE, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=writes,
                stderr=writes,
                env={
                    **os.environ,
                    "PYTHONHASHSEED": str(hash_seed),
                    "PYTHONWARNINGS": "ignore",
                    "PYTHONPATH": os.pathsep.join(os.path.abspath(path or ".") for path in sys.path),
                },
                start_new_session=True,
            )
        finally:
            theirs.close()
            os.close(writes)
        self._output = open(output, "rb", buffering=0)  # noqa: SIM115 - closed with the process
        self._ended = open(os.pidfd_open(self._process.pid), "rb", buffering=0)  # noqa: SIM115 - likewise
        self.timed_out = False
        self._printed: collections.deque[bytes] = collections.deque(maxlen=_KEPT_READS)
        self._inbox = bytearray()
        self._socket.setblocking(False)
        os.set_blocking(output, False)
        self._poll = select.poll()
        for fd in (self._socket.fileno(), output, self._ended.fileno()):
            self._poll.register(fd, select.POLLIN)

    def ask(self, *request: Any) -> Any:
        """Return the answer to a request.

        Raises:
            EnvironmentFailedError: if the environment's code raises, ends the process or times out. Errors of the
                request itself are raised unchanged.
        """
        what = str(request[0])
        if self._process.returncode is not None:
            raise EnvironmentFailedError(what, f"environment {self._name!r}: its process ended before")
        data = encode(request)
        self._send(len(data).to_bytes(4, "little") + data, what)
        while True:
            kind, *parts = self._receive(what)
            if kind == "ok":
                return parts[0]
            if kind != "doing":
                raise self._raised(what, parts)
            what = str(parts[0])

    def close(self) -> None:
        """End the process and all others in its session."""
        # Always: its children may outlive it.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for file in (self._socket, self._output, self._ended):
            file.close()

    def _send(self, data: bytes, what: str) -> None:
        limit_s = _limit_s(what)
        deadline = time.monotonic() + limit_s
        while data:
            try:
                data = data[self._socket.send(data) :]
            except BlockingIOError:
                self._wait(what, deadline, limit_s, select.POLLIN | select.POLLOUT)
            except ConnectionError:
                self._fail(what)

    def _receive(self, what: str) -> list[Any]:
        inbox, limit_s = self._inbox, _limit_s(what)
        deadline = time.monotonic() + limit_s
        while len(inbox) < 4 or len(inbox) < 4 + int.from_bytes(inbox[:4], "little"):
            if len(inbox) >= 4 and int.from_bytes(inbox[:4], "little") > _MOST_BYTES:
                self._broken(what, f"it sent more than {_MOST_BYTES >> 20} MiB at once")
            self._wait(what, deadline, limit_s)
        size = int.from_bytes(inbox[:4], "little")
        try:
            answer = decode(inbox[4 : 4 + size])
        except ValueError as error:
            self._broken(what, f"it wrote to the channel of its process: {error}")
        del inbox[: 4 + size]
        if not isinstance(answer, list) or len(answer) < 2:  # pyright: ignore[reportUnknownArgumentType]
            self._broken(what, "it wrote to the channel of its process")
        return answer  # pyright: ignore[reportUnknownVariableType]

    def _wait(self, what: str, deadline: float, limit_s: float, events: int = select.POLLIN) -> None:
        """Read arrived messages or output; fail on a timeout or if the process has ended."""
        self._poll.modify(self._socket.fileno(), events)
        ready = dict(self._poll.poll(max(0.0, deadline - time.monotonic()) * 1000))
        if not ready:
            self.timed_out = True
            self._broken(
                what,
                f"{_DOING.get(what, what)} took more than {limit_s:g} s; make it faster, or set {TIMEOUT_VARIABLE} higher",
            )
        if ready.get(self._socket.fileno(), 0) & ~select.POLLOUT:
            with contextlib.suppress(ConnectionError):
                if chunk := self._socket.recv(1 << 20):
                    self._inbox += chunk
                    return
            self._fail(what)
        if self._output.fileno() in ready and self._keep_printed():
            return
        if self._ended.fileno() in ready:
            # Its end of the channel stays open if it left a process behind.
            self._fail(what)
        elif self._output.fileno() in ready:
            self._poll.unregister(self._output.fileno())

    def _keep_printed(self) -> bool:
        with contextlib.suppress(BlockingIOError):
            if text := self._output.read(4096):
                self._printed.append(text)
                return True
        return False

    def _fail(self, what: str) -> NoReturn:
        """Raise the error of a process that ended unexpectedly."""
        try:
            status = self._process.wait(_CLOSE_S)
        except subprocess.TimeoutExpired:
            self._broken(what, f"it closed the channel of its process in {what}")
        for _ in range(_KEPT_READS):
            self._keep_printed()
        if status >= 0:
            how = f"ended its process in {what}, with exit code {status}"
        else:
            how = f"its process was ended in {what} by {_signal_name(-status)}"
        if status == -signal.SIGKILL:
            how += ", probably because it ran out of memory"
        self._broken(what, how)

    def _broken(self, what: str, how: str) -> NoReturn:
        lines = b"".join(self._printed).decode("utf-8", "replace").strip().splitlines()[-_KEPT_LINES:]
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        printed = f"; it printed last: {' / '.join(lines)[-300:]}" if lines else ""
        raise EnvironmentFailedError(what, f"environment {self._name!r}: {how}{printed}", timed_out=self.timed_out)

    def _raised(self, what: str, parts: list[Any]) -> Exception:
        kind, message, trace = (str(part) for part in [*parts, "", "", ""][:3])
        error = (
            _KINDS[kind](message)
            if kind in _KINDS
            else EnvironmentFailedError(what, f"environment {self._name!r} failed in {what}: {message}")
        )
        if trace:
            error.add_note(f"In the process of the environment:\n{trace}")
        return error


class ChildEnvironment(gymnasium.Env[Any, Any]):
    """An environment in a separate process.

    Args:
        spec: as for `make_from_spec`.
        render_mode: likewise.
    """

    def __init__(self, spec: Mapping[str, Any], render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        self._child = ChildProcess(spec["env_id"])
        try:
            self._take(self._child.ask("make", dict(spec), render_mode))
        except BaseException:
            self._child.close()
            raise

    @property
    def timed_out(self) -> bool:
        """True if the process was ended because a request timed out."""
        return self._child.timed_out

    def _take(self, about: Any) -> None:
        try:
            self.metadata = about["metadata"]
            self.observation_space = unpack_space(about["observation"], self._child.ask, "observation_space")
            self.action_space = unpack_space(about["action"], self._child.ask, "action_space")
        # gymnasium's error for invalid bounds.
        except Exception as error:
            raise EnvironmentFailedError("spaces", f"the spaces cannot be built again: {error!r}") from error

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode."""
        observation, info, about = self._child.ask("reset", seed, options)
        if about is not None:
            self._take(about)
        return observation, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take a step."""
        observation, reward, terminated, truncated, info = self._child.ask("step", action)
        return observation, reward, terminated, truncated, info

    def render(self) -> Any:
        """Return a picture of the environment's current state."""
        return self._child.ask("render")

    def close(self) -> None:
        """Close the environment and end its process."""
        with contextlib.suppress(HostError):
            self._child.ask("close")
        self._child.close()


def timeout_s() -> float:
    """Return the timeout of one reset, step or rendering, in seconds.

    Raises:
        ConfigError: if the variable is not a number above 0.
    """
    given = os.environ.get(TIMEOUT_VARIABLE)
    if given is None:
        return CALL_S
    with contextlib.suppress(ValueError):
        if 0 < float(given) <= 1e6:
            return float(given)
    raise ConfigError(f"{TIMEOUT_VARIABLE} is {given!r}; give a number of seconds from above 0 to 1000000")


def _limit_s(what: str) -> float:
    if what == "close":
        return _CLOSE_S
    if what in ("reset", "step", "render"):
        return timeout_s()
    return max(timeout_s(), LEAST_MAKE_S) if TIMEOUT_VARIABLE in os.environ else MAKE_S


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
