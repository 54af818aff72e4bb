"""Memory of an agent and all of its processes, measured through the kernel's `/proc`.

It counts memory that cannot be reclaimed without swapping: anonymous memory (swapped out or not), shared memory,
files on memory-backed file systems, and page tables. Pages of files on disk do not count: a mapped model is dropped
when memory is short.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

MEMORY_FOLDERS = ("tmp", "dev/shm")
"""Writable memory-backed file systems of a sandbox."""

_YOUNG_S = 1.0
_MOST_DESCRIPTORS = 20_000
_TICKS = os.sysconf("SC_CLK_TCK")
_GROUPS, _OWN_GROUPS = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
_RESIDENT = ((b"RssAnon:", b"VmSwap:", b"VmPTE:"), (b"RssShmem:",))
_PROPORTIONAL = ((b"Pss_Anon:", b"SwapPss:"), (b"Pss_Shmem:",))


@dataclass(frozen=True, slots=True)
class Process:
    """A process: its parent's id, its session's, its start in seconds after boot, and its CPU seconds."""

    parent: int
    session: int
    started_s: float
    processor_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Held:
    """Bytes of memory held by a process: anonymous ones, and shared ones, which other processes or files may hold too."""

    own: int = 0
    shared: int = 0

    def beyond(self, other: Held) -> Held:
        """Return the excess over another."""
        return Held(max(0, self.own - other.own), max(0, self.shared - other.shared))


def machine_memory() -> int:
    """Return the bytes of memory available to this process and its children: the machine's, or its control group's."""
    return min([os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), *_group_limits()])


def family(root: int) -> dict[int, Process]:
    """Return a process, its descendants, and the other processes of its session, by process id.

    Orphans become children of the first process of their namespace (so none of a sandbox is missed). Without a
    sandbox, an orphan in a new session is not found, and is not ended either.
    """
    # In order, so that the parent is read before the child: one that ends meanwhile has passed its children on by then.
    every = {pid: entry for pid in sorted(_pids()) if (entry := _process(pid)) is not None}
    children: dict[int, list[int]] = {}
    for pid, process in every.items():
        children.setdefault(process.parent, []).append(pid)
    waiting = [root, *(pid for pid, process in every.items() if process.session == root)]
    members: dict[int, Process] = {}
    while waiting:
        pid = waiting.pop()
        if pid in every and pid not in members:
            members[pid] = every[pid]
            waiting += children.get(pid, ())
    return members


def memory_of(root: int, bound: int, files: int = 0) -> int:
    """Return the bytes of memory held by a family of processes.

    Shared pages are first counted for each process, which is quick. Only if that exceeds the limit, exact shares are
    counted, which takes the kernel milliseconds per gigabyte.

    Args:
        root: the first process.
        bound: limit above which the exact figure is computed.
        files: bytes of files in memory. They may be mapped as well, so the larger of files and mappings counts.
    """
    members = family(root)
    total = _sum(members, {pid: _resident(pid) for pid in members}, files)
    if total <= bound:
        return total
    return _sum(members, {pid: _proportional(pid) for pid in members}, files)


def inside(root: int, number: int) -> int | None:
    """Return the process id of the descendant of `root` that is `number` in its namespace; None if it does not exist."""
    for pid in family(root):
        status = _read(f"/proc/{pid}/status")
        named = next((line.split() for line in status.splitlines() if line.startswith(b"NSpid:")), ())
        if named and int(named[-1]) == number:
            return pid
    return None


def processor_of(pid: int) -> tuple[float, float]:
    """Return a process's CPU seconds, and the seconds its first thread was ready without a processor.

    Zeros if it has ended; the second is 0 where the kernel does not report it.
    """
    process, queued = _process(pid), _read(f"/proc/{pid}/schedstat").split()
    return (process.processor_s if process else 0.0), (int(queued[1]) / 1e9 if len(queued) > 1 else 0.0)


def queued_of(root: int) -> float:
    """Return the seconds a family of processes was ready without a processor, for the thread with the most.

    0 where the kernel does not report it. Ended processes do not count.
    """
    threads = (path for pid in family(root) for path in Path(f"/proc/{pid}/task").glob("*/schedstat"))
    return max((int(fields[1]) / 1e9 for path in threads if len(fields := _read(path).split()) > 1), default=0.0)


def memory_files(first: int) -> int:
    """Return the bytes on the memory-backed file systems of the sandbox with this first process."""
    return sum(_size_of(f"/proc/{first}/root", name) for name in MEMORY_FOLDERS)


def nameless_files(pids: Iterable[int]) -> Counter[int]:
    """Return the bytes of open files without a name, which a walk through folders misses: device to bytes.

    Args:
        pids: processes that may have them open; at most 20,000 of their descriptors are examined.
    """
    sizes: dict[tuple[int, int], int] = {}
    for count, descriptor in enumerate(_descriptors(pids)):
        if count == _MOST_DESCRIPTORS:
            break
        with contextlib.suppress(OSError):
            status = os.stat(descriptor)
            if stat.S_ISREG(status.st_mode) and not status.st_nlink:
                sizes[status.st_dev, status.st_ino] = status.st_blocks * 512
    sums = Counter[int]()
    for (device, _), taken in sizes.items():
        sums[device] += taken
    return sums


def _sum(members: Mapping[int, Process], held: Mapping[int, Held], files: int) -> int:
    now = time.clock_gettime(time.CLOCK_BOOTTIME)
    own = shared = 0
    for pid, process in members.items():
        amount = held[pid]
        # Until exec, a child may share its parent's memory (vfork).
        if now - process.started_s < _YOUNG_S:
            amount = amount.beyond(held.get(process.parent, Held()))
        own += amount.own
        shared += amount.shared
    return own + max(shared, files)


def _resident(pid: int) -> Held:
    return _sum_of(_read(f"/proc/{pid}/status"), _RESIDENT) or Held()


def _proportional(pid: int) -> Held:
    return _sum_of(_read(f"/proc/{pid}/smaps_rollup"), _PROPORTIONAL) or _resident(pid)


def _sum_of(text: bytes, names: tuple[tuple[bytes, ...], tuple[bytes, ...]]) -> Held | None:
    """Return the sums of the named amounts, which are in units of 1024 bytes; None if all are missing."""
    lines = [line.split() for line in text.splitlines()]
    amounts = {words[0]: int(words[1]) << 10 for words in lines if len(words) == 3 and words[2] == b"kB"}
    if not any(name in amounts for name in names[0]):
        return None
    own, shared = (sum(amounts.get(name, 0) for name in group) for group in names)
    return Held(own, shared)


def _pids() -> Iterator[int]:
    return (int(name) for name in os.listdir("/proc") if name.isdigit())


def _process(pid: int) -> Process | None:
    # The name, in parentheses, may contain anything.
    fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    if len(fields) <= 19:
        return None
    return Process(
        int(fields[1]), int(fields[3]), int(fields[19]) / _TICKS, (int(fields[11]) + int(fields[12])) / _TICKS
    )


def _descriptors(pids: Iterable[int]) -> Iterator[str]:
    for pid in pids:
        with contextlib.suppress(OSError):
            yield from (f"/proc/{pid}/fd/{name}" for name in os.listdir(f"/proc/{pid}/fd"))


def _size_of(root: str, name: str) -> int:
    try:
        folder = os.open(f"{root}/{name}", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return 0
    try:
        # Until a sandbox is set up, its first process still sees the host's.
        if os.fstat(folder).st_dev == os.stat(f"/{name}").st_dev:
            return 0
        stats = os.statvfs(folder)
        return (stats.f_blocks - stats.f_bfree) * stats.f_frsize
    except OSError:
        return 0
    finally:
        os.close(folder)


def _read(path: str | Path) -> bytes:
    """Return a small file's content; empty if it is gone or unreadable."""
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except OSError:
        return b""


def _group_limits() -> Iterator[int]:
    for line in _read(_OWN_GROUPS).decode().splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers in ("", "memory"):
            root, name = (_GROUPS, "memory.max") if not controllers else (_GROUPS / "memory", "memory.limit_in_bytes")
            own = PurePosixPath(path.lstrip("/"))
            for folder in (own, *own.parents):
                limit = _read(root / folder / name).strip()
                if limit.isdigit():
                    yield int(limit)
