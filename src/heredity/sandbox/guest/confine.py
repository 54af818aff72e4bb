"""Confinement of a policy worker: descriptors, resource limits, capabilities, Landlock, seccomp.

The order matters: everything that needs a right is done before the right is dropped, and seccomp comes last.
docs/isolation.md describes the purpose of each layer.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import resource
import signal
import struct
from collections.abc import Sequence

_LIBC = ctypes.CDLL(None, use_errno=True)
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _PR_SET_DUMPABLE = 1, 22, 38, 4
_CLONE_NEWNS, _CLONE_NEWUTS, _CLONE_NEWIPC = 0x20000, 0x4000000, 0x8000000
_CLONE_NEWUSER, _CLONE_NEWPID, _CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
_MS_REC_PRIVATE, _MS_NOSUID_NODEV = (1 << 14) | (1 << 18), 2 | 4
_MOUNT_SETATTR, _MOUNT_ATTR_RDONLY, _AT_FDCWD, _AT_RECURSIVE = 442, 1, -100, 0x8000
_MAX_THREADS = 64
_CAPSET = {"x86_64": 126, "aarch64": 91}

_FS_EXECUTE, _FS_WRITE, _FS_READ_FILE, _FS_READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_FS_REMOVE_DIR, _FS_REMOVE_FILE, _FS_MAKE_DIR, _FS_MAKE_REG = 1 << 4, 1 << 5, 1 << 7, 1 << 8
_FS_REFER, _FS_TRUNCATE, _FS_IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_NET_BIND_AND_CONNECT, _SCOPE_SOCKETS_AND_SIGNALS = 3, 3
_READ = _FS_READ_FILE | _FS_READ_DIR
_SCRATCH = _READ | _FS_WRITE | _FS_REMOVE_DIR | _FS_REMOVE_FILE | _FS_MAKE_DIR | _FS_MAKE_REG | _FS_TRUNCATE
_FILE_ONLY = _FS_EXECUTE | _FS_WRITE | _FS_READ_FILE | _FS_TRUNCATE


class ConfinementError(OSError):
    """A layer of the confinement could not be applied."""


def _check(result: int, what: str) -> int:
    if result < 0:
        errno = ctypes.get_errno()
        raise ConfinementError(errno, f"{what}: {os.strerror(errno)}")
    return result


def landlock_abi() -> int:
    """Return the kernel's Landlock version; 0 when it has none."""
    return max(0, int(_LIBC.syscall(_LANDLOCK_CREATE, None, 0, 1)))


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends."""
    _check(_LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "PR_SET_PDEATHSIG")


def enter_namespaces() -> None:
    """Leave the host's process, network, mount and IPC namespaces; children of this process start in the new ones.

    Raises:
        ConfinementError: where the machine does not allow it.
    """
    flags = _CLONE_NEWNS | _CLONE_NEWUTS | _CLONE_NEWIPC | _CLONE_NEWPID | _CLONE_NEWNET
    uid, gid = os.getuid(), os.getgid()
    if uid != 0:
        _check(_LIBC.unshare(flags | _CLONE_NEWUSER), "unshare")
        for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
    else:
        _check(_LIBC.unshare(flags), "unshare")
    _check(_LIBC.mount(None, b"/", None, _MS_REC_PRIVATE, None), "making mounts private")


def mount_scratch(path: str, size: int, slots: int = 1) -> None:
    """Make the host's files read-only, and mount memory-backed folders in `path`, in this mount namespace alone.

    Args:
        path: folder in which `0`, `1`, … are made, one for each simultaneous worker.
        size: size of each of them, in bytes.
        slots: their number.
    """
    attributes = struct.pack("<QQQQ", _MOUNT_ATTR_RDONLY, 0, 0, 0)
    sealed = _LIBC.syscall(_MOUNT_SETATTR, _AT_FDCWD, b"/", _AT_RECURSIVE, attributes, len(attributes))
    _check(sealed, "making the host's files read-only")
    for folder in (path, *(f"{path}/{slot}" for slot in range(slots))):
        if folder != path:
            os.mkdir(folder, 0o700)
        options = f"size={size},nr_inodes=1024,mode=0700".encode()
        mounted = _LIBC.mount(b"scratch", folder.encode(), b"tmpfs", _MS_NOSUID_NODEV, options)
        _check(mounted, f"mounting a tmpfs at {folder}")


def _open_high(path: str) -> int:
    """Open a path for Landlock on a descriptor away from those a worker gets."""
    fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 200)
    os.close(fd)
    return high


class Confinement:
    """Common settings of the workers of one zygote: readable folders, the seccomp program, limits.

    Landlock is applied twice; access needs both. The zygote drops everything but the fine list (`readable`), once;
    each worker then keeps only the few folders in `coarse`, its program and its scratch folder. So a worker costs a
    dozen rules instead of hundreds.

    Args:
        readable: all files and folders a worker may read: the interpreter's library, allow-listed packages.
        coarse: a few folders that contain them, but no program, scratch folder or other secret.
        roots: folders that hold the programs and the scratch folders of all workers.
        seccomp: the filter as BPF instructions (8 bytes each); None leaves seccomp out (unsafe).
        landlock: whether to use Landlock; False leaves it out (unsafe).
    """

    def __init__(
        self,
        readable: Sequence[str],
        coarse: Sequence[str],
        roots: tuple[str, str],
        seccomp: bytes | None,
        landlock: bool,
    ) -> None:
        self._abi = landlock_abi() if landlock else 0
        if landlock and not self._abi:
            raise ConfinementError(0, "the kernel has no Landlock")
        self._filter = ctypes.create_string_buffer(seccomp, len(seccomp)) if seccomp else None
        self._machine = os.uname().machine
        with open("/proc/self/statm", encoding="ascii") as file:
            self._mapped = int(file.read().split()[0]) * resource.getpagesize()
        self._coarse: list[tuple[int, int]] = []
        if self._abi:
            programs, scratch = roots
            fine = [(path, _READ) for path in readable] + [(programs, _READ), (scratch, _SCRATCH)]
            opened = [(_open_high(p), self._rights(p, rights)) for p, rights in fine if os.path.exists(p)]
            self._coarse = [(_open_high(p), self._rights(p, _READ)) for p in coarse if os.path.exists(p)]
            _check(_LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS")
            self._restrict(opened)
            for fd, _ in opened:
                os.close(fd)

    def _rights(self, path: str, rights: int) -> int:
        return (rights if os.path.isdir(path) else rights & _FILE_ONLY) & self._handled()

    def _handled(self) -> int:
        handled = (1 << 13) - 1
        if self._abi >= 2:
            handled |= _FS_REFER
        if self._abi >= 3:
            handled |= _FS_TRUNCATE
        if self._abi >= 5:
            handled |= _FS_IOCTL_DEV
        return handled

    def limit(self, memory: int, file_size: int, cpu_s: int, user: int) -> None:
        """Set the resource limits of this process.

        Args:
            memory: address space in bytes, in addition to current mappings.
            file_size: size limit of a file, in bytes.
            cpu_s: CPU seconds; a backstop, because the host enforces wall limits.
            user: for a zygote that runs as root, a unique number as its real user. The kernel counts threads by real
                user and exempts root, so without it a worker could start any number.
        """
        if os.geteuid() == 0:
            with contextlib.suppress(OSError):  # a container may not have this number
                os.setresuid(user, -1, -1)
        for what, value in (
            (resource.RLIMIT_AS, self._mapped + memory),
            (resource.RLIMIT_FSIZE, file_size),
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_NOFILE, 128),
            (resource.RLIMIT_NPROC, _MAX_THREADS),
            (resource.RLIMIT_MEMLOCK, 0),
            (resource.RLIMIT_MSGQUEUE, 0),
        ):
            resource.setrlimit(what, (value, value))
        # At the hard limit the kernel sends SIGKILL; the extra second leaves room for the signal that gives the reason.
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))

    def close_over(self, keep: int) -> None:
        """Close every descriptor from `keep` on, except those needed by `enter`."""
        needed = sorted(fd for fd, _ in self._coarse)
        start = keep
        for fd in needed:
            os.closerange(start, fd)
            start = max(start, fd + 1)
        os.closerange(start, start + 4096)

    def enter(self, program: str, scratch: str) -> None:
        """Drop every right except reading the program and its libraries, and writing to `scratch`."""
        _check(_LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS")
        _check(_LIBC.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0), "PR_SET_DUMPABLE")
        if self._abi:
            folders = ((program, _READ), (scratch, _SCRATCH & self._handled()))
            own = [(os.open(path, os.O_PATH | os.O_CLOEXEC), rights) for path, rights in folders]
            self._restrict([*self._coarse, *own])
            for fd, _ in (*self._coarse, *own):
                os.close(fd)
        self._drop_capabilities()
        if self._filter is not None:
            self._enter_seccomp()

    def _restrict(self, allowed: Sequence[tuple[int, int]]) -> None:
        attr = struct.pack("<Q", self._handled())
        if self._abi >= 4:
            attr += struct.pack("<Q", _NET_BIND_AND_CONNECT)
        if self._abi >= 6:
            attr += struct.pack("<Q", _SCOPE_SOCKETS_AND_SIGNALS)
        ruleset = _check(_LIBC.syscall(_LANDLOCK_CREATE, attr, len(attr), 0), "landlock_create_ruleset")
        try:
            for fd, rights in allowed:
                rule = struct.pack("<Qi", rights, fd)
                _check(_LIBC.syscall(_LANDLOCK_ADD, ruleset, 1, rule, 0), "landlock_add_rule")
            _check(_LIBC.syscall(_LANDLOCK_RESTRICT, ruleset, 0), "landlock_restrict_self")
        finally:
            os.close(ruleset)

    def _drop_capabilities(self) -> None:
        header = struct.pack("<Ii", 0x20080522, 0)
        _check(_LIBC.syscall(_CAPSET[self._machine], header, bytes(24)), "capset")

    def _enter_seccomp(self) -> None:
        assert self._filter is not None
        count = len(self._filter.raw) // 8

        class Program(ctypes.Structure):
            _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_void_p)]

        program = Program(count, ctypes.addressof(self._filter))
        _check(_LIBC.prctl(_PR_SET_SECCOMP, 2, ctypes.byref(program), 0, 0), "PR_SET_SECCOMP")
