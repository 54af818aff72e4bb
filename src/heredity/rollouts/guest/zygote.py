"""The warm parent of policy workers: an isolated interpreter with numpy loaded, and nothing else worth having.

Started by its path with `python -I -S -B`. It reads its settings from the control socket, leaves the host's namespaces,
and then forks one confined worker per order. It never runs a line of an untrusted program.
"""

from __future__ import annotations

import base64
import contextlib
import gc
import json
import os
import shutil
import signal
import socket
import sys
from typing import Any

MAX_MESSAGE = 1 << 18
REQUEST, RESPONSE = 3, 4
"""The descriptors of a worker's two pipes."""
GUEST_MODULES = ("codec", "confine", "frames", "harness", "spaces")
"""Forgotten by name in a worker, so that a program may have modules of these names."""


class Zygote:
    """Forks workers on orders from the control socket and ends them when told to."""

    def __init__(self, control: socket.socket, settings: dict[str, Any]) -> None:
        import confine
        import spaces

        self.control, self.settings = control, settings
        self.spaces = spaces
        self.profiles: dict[int, dict[str, Any]] = {}
        self.workers: dict[int, int] = {}
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
                self._end(order["worker"])
            else:
                self.profiles[order["profile"]] = order

    def _spawn(self, order: dict[str, Any], fds: list[int]) -> None:
        scratch = os.path.join(self.settings["scratch"], str(order["worker"]))
        os.mkdir(scratch, 0o700)
        pid = os.fork()
        if pid == 0:
            try:
                self._confine(order, fds, scratch)
            except BaseException as error:  # noqa: BLE001 - said to the host, which cannot see this process's stderr
                import frames

                frames.write_frame(RESPONSE, frames.UNCONFINED + repr(error).encode())
                os._exit(70)
            try:
                self._serve_program(order)
            finally:
                os._exit(0)
        self.workers[order["worker"]] = pid
        for fd in fds:
            os.close(fd)

    def _confine(self, order: dict[str, Any], fds: list[int], scratch: str) -> None:
        for target, fd in enumerate(fds):
            os.dup2(fd, 100 + target)
        null = os.open("/dev/null", os.O_RDONLY)
        for target, fd in ((0, null), (1, 102), (2, 103), (REQUEST, 100), (RESPONSE, 101)):
            os.dup2(fd, target)
        self.confinement.close_over(RESPONSE + 1)
        self.confinement.limit(order["memory"], order["file_size"], order["cpu_s"])
        os.chdir(order["program"])
        os.environ.clear()
        os.environ.update({"HOME": scratch, "TMPDIR": scratch, "LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1"})
        self.confinement.enter(order["program"], scratch)

    def _serve_program(self, order: dict[str, Any]) -> None:
        import frames
        import harness

        frames.write_frame(RESPONSE, frames.CONFINED)
        profile = self.profiles[order["profile"]]
        sys.path.insert(0, order["program"])
        sys.argv = ["policy"]
        sys.meta_path.append(harness.DeniedFinder(self.settings["allowed"]))
        full = {**profile, **order, "build_space": self.spaces.build_space}
        for name in GUEST_MODULES:
            sys.modules.pop(name, None)
        gc.enable()
        harness.Harness(REQUEST, RESPONSE, order["program"], full).run()

    def _end(self, worker: int) -> None:
        pid = self.workers.pop(worker, None)
        status = 0
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
            _, status = os.waitpid(pid, 0)
        scratch = os.path.join(self.settings["scratch"], str(worker))
        try:
            os.rmdir(scratch)
        except OSError:
            shutil.rmtree(scratch, ignore_errors=True)
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
        self.control.send(json.dumps({"worker": worker, "status": code}).encode())


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
        confine.mount_scratch(settings["scratch"], settings["scratch_bytes"])
    import frames  # noqa: F401 - loaded here so that workers find it in memory
    import harness  # noqa: F401
    import spaces

    for name in settings["preload"]:
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
