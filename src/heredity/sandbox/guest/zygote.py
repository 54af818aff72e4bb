"""The warm parent of confined workers: an isolated interpreter with numpy loaded, and no secrets.

Started by its path with `python -P -s -S -B` and five environment variables. It reads its settings from the control
socket, leaves the host's namespaces, and then forks one confined worker per order. Its `main` sets the purpose of its
workers: `"policy"` plays episodes (`harness.py`), `"program"` runs functions (`program.py`). It never runs a line of
an untrusted program.
"""

from __future__ import annotations

import base64
import contextlib
import gc
import json
import os
import signal
import socket
import sys
import time
from typing import Any

MAX_MESSAGE = 1 << 18
FIRST_USER = 1 << 30
REQUEST, RESPONSE = 3, 4
"""The descriptors of a worker's two pipes."""
ENDING_S = 0.5
"""Seconds for a worker that has closed its pipe to end."""
GUEST_MODULES = ("codec", "confine", "coroutines", "failures", "frames", "harness", "program", "spaces")
"""Removed by name in a worker, so that a program may have modules of these names."""


class Zygote:
    """Forks workers on orders from the control socket and ends them on request."""

    def __init__(self, control: socket.socket, settings: dict[str, Any]) -> None:
        import confine
        import spaces

        self.control, self.settings = control, settings
        self.spaces = spaces
        self.profiles: dict[int, dict[str, Any]] = {}
        self.workers: dict[int, tuple[int, str]] = {}
        self.slots = [os.path.join(settings["scratch"], str(slot)) for slot in range(settings["slots"])]
        self.users = FIRST_USER + (int.from_bytes(os.urandom(2), "little") << 8)
        self.spare: tuple[int, socket.socket] | None = None
        filter_bytes = base64.b64decode(settings["seccomp"]) if settings["seccomp"] else None
        roots = (settings["programs"], settings["scratch"])
        self.confinement = confine.Confinement(
            settings["readable"], settings["coarse"], roots, filter_bytes, settings["landlock"]
        )

    def serve(self) -> None:
        """Take orders until the control socket closes."""
        while True:
            data, fds, _, _ = socket.recv_fds(self.control, MAX_MESSAGE, 8)
            if not data:
                return
            order = json.loads(data)
            if order["op"] == "spawn":
                self._spawn(order, fds)
            elif order["op"] == "end":
                self._end(order["worker"], order.get("closed", False))
                self.spare = self.spare or self._fork()
            else:
                order["spaces"] = [self.spaces.build_space(order[kind]) for kind in ("obs", "action")]
                self.profiles[order["profile"]] = order
                self._drop_spare()

    def _spawn(self, order: dict[str, Any], fds: list[int]) -> None:
        scratch = order["scratch"] = self.slots.pop()
        pid, link = self.spare or self._fork()
        self.spare = None
        self.workers[order["worker"]] = (pid, scratch)
        socket.send_fds(link, [json.dumps(order).encode()], fds)
        link.close()
        for fd in fds:
            os.close(fd)

    def _fork(self) -> tuple[int, socket.socket]:
        """Fork a process that waits for its order; one is kept in reserve, so that an order need not wait for a fork."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        pid = os.fork()
        if pid:
            theirs.close()
            return pid, ours
        try:
            import confine

            # Outside a separate namespace nothing else ends it with the zygote: neither the kernel, nor the end of its
            # link as long as it holds both ends.
            ours.close()
            confine.die_with_parent()
            self._work(theirs)
        finally:
            os._exit(0)

    def _drop_spare(self) -> None:
        if self.spare:
            pid, link = self.spare
            self.spare = None
            link.close()
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)

    def _work(self, link: socket.socket) -> None:
        import frames
        import harness
        import program

        self.control.close()
        gc.enable()
        sys.argv = [self.settings["main"]]
        sys.meta_path.append(harness.DeniedFinder(self.settings["allowed"]))
        for name in GUEST_MODULES:
            sys.modules.pop(name, None)
        runs_programs = self.settings["main"] == "program"
        (program if runs_programs else harness).rehearse()
        data, fds, _, _ = socket.recv_fds(link, MAX_MESSAGE, 8)
        if not data:
            return
        order = json.loads(data)
        try:
            self._confine(order, fds)
        except BaseException as error:  # noqa: BLE001 - said to the host, which cannot see this process's stderr
            frames.write_frame(RESPONSE, frames.UNCONFINED + repr(error).encode())
            return
        frames.write_frame(RESPONSE, frames.CONFINED + (str(os.getpid()).encode() if runs_programs else b""))
        sys.path.insert(0, order["program"])
        if runs_programs:
            program.ProgramLoop(REQUEST, RESPONSE, order).run()
            return
        full = {**self.profiles[order["profile"]], **order, "fresh": self.spaces.fresh}
        harness.Harness(REQUEST, RESPONSE, order["program"], full).run()

    def _confine(self, order: dict[str, Any], fds: list[int]) -> None:
        scratch = order["scratch"]
        for target, fd in enumerate(fds):
            os.dup2(fd, 100 + target)
        null = os.open("/dev/null", os.O_RDONLY)
        for target, fd in ((0, null), (1, 102), (2, 103), (REQUEST, 100), (RESPONSE, 101)):
            os.dup2(fd, target)
        self.confinement.close_over(RESPONSE + 1)
        user = self.users + int(os.path.basename(scratch))
        self.confinement.limit(order["memory"], order["file_size"], order["cpu_s"], user)
        os.chdir(order["program"])
        os.environ.update({"HOME": scratch, "TMPDIR": scratch})
        self.confinement.enter(order["program"], scratch)

    def _end(self, worker: int, closed: bool) -> None:
        import frames

        pid, scratch = self.workers.pop(worker)
        # A worker that closed its pipe is about to end, unless it survives without it.
        deadline = time.monotonic() + (ENDING_S if closed else 0.0)
        ended, status = os.waitpid(pid, os.WNOHANG)
        while not ended and time.monotonic() < deadline:
            time.sleep(0.002)
            ended, status = os.waitpid(pid, os.WNOHANG)
        if not ended:
            os.kill(pid, signal.SIGKILL)
            _, status = os.waitpid(pid, 0)
        with contextlib.suppress(OSError):
            empty(scratch)
        os.chdir("/")
        self.slots.append(scratch)
        code = frames.LIVED_ON if closed and not ended else os.waitstatus_to_exitcode(status)
        self.control.send(json.dumps({"worker": worker, "status": code}).encode())


def empty(folder: str) -> None:
    """Remove everything in `folder` at any depth: without recursion, and without growing paths. Changes the folder."""
    os.chdir(folder)
    above: list[str] = []
    left = [_remove_files()]
    while left:
        if left[-1]:
            above.append(left[-1].pop())
            os.chdir(above[-1])
            left.append(_remove_files())
            continue
        left.pop()
        if above:
            os.chdir("..")
            os.rmdir(above.pop())


def _remove_files() -> list[str]:
    folders: list[str] = []
    with os.scandir(".") as entries:
        for entry in list(entries):
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
            else:
                os.unlink(entry.name)
    return folders


def main() -> None:
    """Enter the namespaces and serve as their first process."""
    control = socket.socket(fileno=int(sys.argv[1]))
    settings = json.loads(control.recv(MAX_MESSAGE))
    sys.path[:0] = [settings["guest"], settings["packages"]]
    sys.dont_write_bytecode = True
    import confine

    confine.die_with_parent()
    if settings["namespaces"]:
        confine.enter_namespaces()
        pid = os.fork()
        if pid:
            control.close()
            _, status = os.waitpid(pid, 0)
            os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
        confine.die_with_parent()
        confine.mount_scratch(settings["scratch"], settings["scratch_bytes"], settings["slots"])
    else:
        for slot in range(settings["slots"]):
            os.makedirs(os.path.join(settings["scratch"], str(slot)), 0o700, exist_ok=True)
    import spaces

    # The guest modules are loaded here so that workers find them in memory; programs may import the last of them by its name.
    for name in ("frames", "harness", "program", "heredity_harness", *settings["preload"]):
        with contextlib.suppress(ImportError):
            __import__(name)
    spaces.load_space_classes(settings["gymnasium"])
    sys.path.remove(settings["guest"])
    zygote = Zygote(control, settings)
    gc.collect()
    gc.freeze()
    gc.disable()
    control.send(b'{"ready": true}')
    zygote.serve()


if __name__ == "__main__":
    main()
