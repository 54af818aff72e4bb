"""Host side of a zygote: starts it, orders workers, ends them."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from heredity._core.errors import HostError
from heredity.sandbox.guest.zygote import MAX_MESSAGE
from heredity.sandbox.limits import Limits

START_S = 60.0
"""Timeout for the start of a zygote, in seconds."""
_REPLY_S = 10.0


@dataclass(slots=True)
class Worker:
    """Host side of one confined worker.

    Attributes:
        number: its number in the zygote.
        request: descriptor to write frames to (non-blocking).
        response: descriptor to read frames from (non-blocking).
        outputs: descriptors of the memory files behind its stdout and stderr.
    """

    number: int
    request: int
    response: int
    outputs: tuple[int, int]
    closed: bool = field(default=False)

    def read_outputs(self, limit: int) -> tuple[str, str]:
        """Return the output to stdout and stderr below Python (C code, faulthandler), at most `limit` bytes each."""
        first, second = (os.pread(fd, limit, 0).decode("utf-8", "replace") for fd in self.outputs)
        return first, second

    def close(self) -> None:
        """Close the host's descriptors."""
        if not self.closed:
            self.closed = True
            for fd in (self.request, self.response, *self.outputs):
                os.close(fd)


class ZygoteProcess:
    """A running zygote. Not thread-safe; used by one environment worker, or by one event loop.

    Args:
        settings: the result of `isolation.zygote_settings`.
        wait: return only once it is ready; without it, call `ready` when `control` is readable.
    """

    def __init__(self, settings: Mapping[str, Any], *, wait: bool = True) -> None:
        self._settings = dict(settings)
        self._numbers = itertools.count(1)
        self._profiles: dict[bytes, int] = {}
        self._exits: dict[int, int] = {}
        self._start()
        if wait:
            self.ready()

    def _start(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for end in (ours, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        # Isolated except for the environment, all of which is passed here: a text's hash must not depend on the zygote.
        flags = ["-P", "-s", "-S", "-B"]
        command = [sys.executable, *flags, f"{self._settings['guest']}/zygote.py", str(theirs.fileno())]
        environment = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1", "LANG": "C.UTF-8"}
        environment["PYTHONHASHSEED"] = "0"
        self._process = subprocess.Popen(
            command,
            pass_fds=[theirs.fileno()],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd="/",
            # Ctrl-C in a terminal reaches its whole foreground group; this process ends with the host instead.
            start_new_session=True,
        )
        theirs.close()
        self._control = ours
        with contextlib.suppress(HostError):  # `ready` reports the reason
            self._send(self._settings)

    def ready(self) -> None:
        """Wait until it is ready for orders.

        Raises:
            HostError: if it does not start; the message is the last line of its output.
        """
        try:
            self._receive(START_S)
        except HostError as error:
            self._process.kill()
            _, message = self._process.communicate()
            lines = message.decode("utf-8", "replace").strip().splitlines()
            raise HostError(f"the sandbox did not start: {lines[-1] if lines else error}") from error

    @property
    def pid(self) -> int:
        """Its process id, the ancestor of all it forks."""
        return self._process.pid

    @property
    def control(self) -> int:
        """Descriptor that announces exits."""
        return self._control.fileno()

    def spawn(
        self,
        profile: Mapping[str, Any],
        program: str,
        episodes: Sequence[tuple[int, int]],
        limits: Limits,
    ) -> Worker:
        """Fork a worker that plays a policy.

        Args:
            profile: settings passed to its policies: `obs` and `action` (space descriptions), `meta` (JSON text).
            program: folder of the program's files.
            episodes: (episode index, policy seed) of each policy to construct.
            limits: memory, scratch and output limits.
        """
        return self.launch(
            {
                "profile": self._profile(profile),
                "program": program,
                "episodes": [list(e) for e in episodes],
                "memory": limits.memory_bytes,
                "file_size": limits.scratch_bytes,
                "cpu_s": int(limits.init_s + limits.episode_s * len(episodes)) + 1,
                "output": limits.output_bytes,
            }
        )

    def launch(self, order: Mapping[str, Any]) -> Worker:
        """Fork a worker.

        Args:
            order: `program` (folder of its files), `memory` and `file_size` (bytes), `cpu_s` (CPU seconds), and
                further settings for this zygote's workers.
        """
        number = next(self._numbers)
        request_read, request_write = os.pipe2(os.O_CLOEXEC)
        response_read, response_write = os.pipe2(os.O_CLOEXEC)
        outputs = (os.memfd_create("stdout", os.MFD_CLOEXEC), os.memfd_create("stderr", os.MFD_CLOEXEC))
        given = [request_read, response_write, *outputs]
        try:
            message = {"op": "spawn", "worker": number, **order}
            socket.send_fds(self._control, [json.dumps(message).encode()], given)
        except OSError as error:
            for fd in (*given, request_write, response_read):
                os.close(fd)
            raise HostError(f"the sandbox is gone: {error.strerror}") from error
        os.close(request_read)
        os.close(response_write)
        os.set_blocking(request_write, False)
        os.set_blocking(response_read, False)
        return Worker(number, request_write, response_read, outputs)

    def end(self, worker: Worker, *, closed: bool = False) -> None:
        """Kill a worker, close its pipes and wipe its scratch folder. The exit status follows later (`exit_status`).

        Args:
            worker: the worker.
            closed: whether it closed its pipe; if it survives that, its status is `frames.LIVED_ON`.
        """
        try:
            self.kill(worker, closed=closed)
        finally:
            worker.close()

    def kill(self, worker: Worker, *, closed: bool = False) -> None:
        """Do the same as `end`, but leave the pipes to their reader."""
        self._send({"op": "end", "worker": worker.number, "closed": closed})

    def exit_status(self, worker: Worker) -> int:
        """Return the exit status of an ended worker: its exit code, minus the signal that ended it, or `frames.LIVED_ON`."""
        while worker.number not in self._exits:
            reply = self._receive(_REPLY_S)
            self._exits[reply["worker"]] = reply["status"]
        return self._exits.pop(worker.number)

    def announced(self) -> dict[int, int]:
        """Return the exits announced since the last call: worker to exit status (see `exit_status`)."""
        exits: dict[int, int] = {}
        while self._has_news(0.0):
            reply = self._receive(0.0)
            exits[reply["worker"]] = reply["status"]
        return exits

    def drain(self) -> None:
        """Discard exits that no caller is waiting for."""
        self.announced()

    def close(self, patience_s: float = 2.0) -> None:
        """End the zygote and all of its workers; it is killed if it takes longer than `patience_s`."""
        self._control.close()
        try:
            self._process.communicate(timeout=patience_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            # Not read to its end: a process that outlived the zygote may hold it open.
            if self._process.stderr is not None:
                self._process.stderr.close()

    def _profile(self, profile: Mapping[str, Any]) -> int:
        text = json.dumps(profile, sort_keys=True).encode()
        if text not in self._profiles:
            if len(text) > MAX_MESSAGE - 1024:
                raise HostError(
                    f"the description of the spaces takes {len(text)} bytes, more than {MAX_MESSAGE - 1024}"
                )
            self._profiles[text] = len(self._profiles)
            self._send({"op": "profile", "profile": self._profiles[text], **profile})
        return self._profiles[text]

    def _send(self, message: Mapping[str, Any]) -> None:
        try:
            self._control.send(json.dumps(message).encode())
        except OSError as error:
            raise HostError(f"the sandbox is gone: {error.strerror}") from error

    def _receive(self, timeout: float) -> dict[str, Any]:
        if not self._has_news(timeout):
            raise HostError(f"the sandbox did not answer within {timeout:g} s")
        data = self._control.recv(MAX_MESSAGE)
        if not data:
            raise HostError("the sandbox ended")
        reply: dict[str, Any] = json.loads(data)
        return reply

    def _has_news(self, timeout: float) -> bool:
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        return bool(poll.poll(timeout * 1000))
