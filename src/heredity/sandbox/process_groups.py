"""A bound on the processes and threads of a sandbox, where the limit that the kernel keeps by user does not bind.

`RLIMIT_NPROC` exempts root, in whichever user namespace it is, so that a fork bomb in a sandbox that root started could take
every process number of the machine. There a control group counts them instead, one for each sandbox.
"""

from __future__ import annotations

import atexit
import os
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

_PREFIX = "heredity-"
_ENTERING_S = 60.0
"""From this age on an empty group is one whose sandbox has ended, and not one that is about to be entered."""
_ENTER = 'echo $$ > "$0/cgroup.procs" && exec "$@"'
"""Words of the shell alone: it runs outside of the sandbox, with variables that may be the candidate's, PATH among them."""


def bounded(processes: int) -> list[str]:
    """Return what stands before a command, so that it and all that it starts have at most so many processes and threads.

    Nothing for a user other than root, for whom `RLIMIT_NPROC` holds, and nothing where root may not make control groups
    (`unavailable` says why).

    Args:
        processes: the most at once, at least 1; those that set a sandbox up are among them.
    """
    parent, _ = _parent()
    if parent is None:
        return []
    _sweep(parent)
    return ["/bin/sh", "-c", _ENTER, str(_make(parent, processes))]


def unavailable() -> str | None:
    """Return why nothing bounds the processes of a sandbox on this machine and what to do about it, or None if something does."""
    return _parent()[1]


@cache
def _parent() -> tuple[Path | None, str | None]:
    """The folder of the kernel in which groups can be made, if there has to be one, and why there is none."""
    if os.geteuid() != 0:
        return None, None
    for folder in _candidates():
        try:
            _make(folder, 16).rmdir()
        except OSError:
            continue
        atexit.register(_sweep, folder, f"{_PREFIX}{os.getpid()}-")
        return folder, None
    return None, (
        "as root the number of processes in a sandbox is bounded only where control groups can be made, and here they cannot; "
        "run as another user, or make /sys/fs/cgroup writable with its pids controller on"
    )


def _candidates() -> list[Path]:
    """Folders of groups that may count processes: of cgroup v1 the own one and the root, of v2 the root where it is on."""
    lines = Path("/proc/self/cgroup").read_text().splitlines() if Path("/proc/self/cgroup").exists() else []
    own = [path for _, controllers, path in (line.split(":", 2) for line in lines) if "pids" in controllers.split(",")]
    root = Path("/sys/fs/cgroup/pids")
    return [*(root / path.lstrip("/") for path in own), root, Path("/sys/fs/cgroup")]


def _make(parent: Path, processes: int) -> Path:
    group = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=parent))
    try:
        with (group / "pids.max").open("r+") as bound:  # it is the kernel's, or this is no folder of groups that count
            bound.write(str(processes))
    except OSError:
        group.rmdir()
        raise
    return group


def _sweep(parent: Path, own: str | None = None) -> None:
    """Remove the groups that nobody is in any more: those that are old, or all whose names begin with `own`."""
    for group in parent.glob(f"{own or _PREFIX}*"):
        with suppress(OSError):  # the kernel keeps those that somebody is in
            if own or time.time() - group.stat().st_mtime > _ENTERING_S:
                group.rmdir()
