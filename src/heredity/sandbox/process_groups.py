"""Limit on the processes and threads of a sandbox where the kernel's limit by user does not apply.

`RLIMIT_NPROC` exempts root, in any user namespace. A fork bomb in a sandbox started by root could take every process
number of the machine. There a control group counts them instead, one for each sandbox.
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
"""Age in seconds from which an empty group belongs to an ended sandbox, not one about to be entered."""
_ENTER = 'echo $$ > "$0/cgroup.procs" && exec "$@"'
"""Shell built-ins only: it runs outside the sandbox, with variables that may be the candidate's, PATH among them."""


def bounded(processes: int) -> list[str]:
    """Return a command prefix that limits the processes and threads of the command and its descendants.

    Empty for a user other than root, for whom `RLIMIT_NPROC` holds, and where root may not make control groups
    (`unavailable` says why).

    Args:
        processes: the limit, at least 1; includes those that set a sandbox up.
    """
    parent, _ = _parent()
    if parent is None:
        return []
    _sweep(parent)
    return ["/bin/sh", "-c", _ENTER, str(_make(parent, processes))]


def unavailable() -> str | None:
    """Return why the processes of a sandbox cannot be limited on this machine and the remedy, or None if they can."""
    return _parent()[1]


@cache
def _parent() -> tuple[Path | None, str | None]:
    """Return the kernel's parent folder for groups, if groups are needed, and the reason there is none."""
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
    """Return folders of process-counting groups: for cgroup v1 our group and the root, for v2 the root, if enabled."""
    lines = Path("/proc/self/cgroup").read_text().splitlines() if Path("/proc/self/cgroup").exists() else []
    own = [path for _, controllers, path in (line.split(":", 2) for line in lines) if "pids" in controllers.split(",")]
    root = Path("/sys/fs/cgroup/pids")
    return [*(root / path.lstrip("/") for path in own), root, Path("/sys/fs/cgroup")]


def _make(parent: Path, processes: int) -> Path:
    group = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=parent))
    try:
        with (group / "pids.max").open(
            "r+"
        ) as bound:  # it belongs to the kernel, or is not a folder of counting groups
            bound.write(str(processes))
    except OSError:
        group.rmdir()
        raise
    return group


def _sweep(parent: Path, own: str | None = None) -> None:
    """Remove empty groups: old ones, or all whose names start with `own`."""
    for group in parent.glob(f"{own or _PREFIX}*"):
        with suppress(OSError):  # the kernel keeps groups in use
            if own or time.time() - group.stat().st_mtime > _ENTERING_S:
                group.rmdir()
