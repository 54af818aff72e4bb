"""Starts confined commands one after the other and reports their usage: a separate process with only the standard library.

bubblewrap does not wait for its children, so their usage would be lost. This process adopts orphans below it, so it
can report the usage of all processes of a run.

A request is one message on the socket, JSON (command, environment, limits, rules) with three descriptors (stdin,
stdout, stderr). The answers are its process group and, when all has ended, the exit code and the usage.
"""

import ctypes
import json
import os
import resource
import signal
import socket
import sys
from collections.abc import Sequence
from typing import Any

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_MOST_BYTES = 1 << 20
_MOST_DESCRIPTORS = 1 << 20


def _start(request: dict[str, Any], descriptors: Sequence[int]) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        for target, descriptor in enumerate(descriptors):
            os.dup2(descriptor, target)
        for name, values in request["limits"].items():
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), tuple(values))
        # Reopened: reading a shared descriptor moves its position.
        rules = request["rules"]
        os.dup2(os.open(f"/proc/self/fd/{rules}", os.O_RDONLY), rules)
        # Above all the channel: a process holding it could fake its usage.
        os.closerange(3, rules)
        os.closerange(rules + 1, _MOST_DESCRIPTORS)
        os.execve(request["command"][0], request["command"], request["environment"])
    # The child reports any error, and ends here.
    except BaseException as error:  # noqa: BLE001
        os.write(2, f"bwrap: {error!r}".encode())
    os._exit(1)


def _ended(pid: int) -> dict[str, Any]:
    """Wait for all processes of a command."""
    code, seconds, peak = 0, 0.0, 0
    while True:
        try:
            ended, status, usage = os.wait4(-1, 0)
        except ChildProcessError:
            return {"code": code, "cpu_s": seconds, "peak_bytes": peak}
        if ended == pid:
            code = os.waitstatus_to_exitcode(status)
        seconds += usage.ru_utime + usage.ru_stime
        peak = max(peak, usage.ru_maxrss << 10)


def _serve(channel: socket.socket) -> None:
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    while True:
        data, descriptors, _, _ = socket.recv_fds(channel, _MOST_BYTES, 3)
        if not data:
            return
        pid = _start(json.loads(data), descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        channel.send(json.dumps({"group": pid}).encode())
        channel.send(json.dumps(_ended(pid)).encode())


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
