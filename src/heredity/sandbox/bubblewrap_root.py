"""The builder of all bubblewrap sandboxes: isolation, a system-call filter, and a read-only view of the system.

Outside agents, measured programs, browsers, checkpoints and container tasks each describe their `Root`.
"""

from __future__ import annotations

import errno
import os
import shutil
import site
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import heredity
from heredity._core.errors import IsolationError
from heredity.sandbox.process_groups import bounded
from heredity.sandbox.seccomp import ALLOW, Rule, compile_filter, refuse

LINKED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
"""Folders next to `/usr`, or links into it."""

_PROC_SETTINGS = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "mtrr", "latency_stats", "timer_stats")
_ETC = (
    "alternatives",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mime.types",
    "python3.11",
    "ssl/openssl.cnf",
)
_ETC_NETWORK = ("resolv.conf", "hosts", "nsswitch.conf", "ssl/certs", "ca-certificates", "pki")
_CLONE_THREAD = 0x10000
_REMEDY = "install bubblewrap 0.8 or later (Debian: apt-get install bubblewrap) and allow user namespaces"

_DENIED = (
    *("add_key", "keyctl", "request_key", "bpf", "perf_event_open", "userfaultfd", "io_uring_setup"),
    *("io_uring_enter", "io_uring_register", "ptrace", "process_vm_readv", "process_vm_writev", "mount", "umount2"),
    *("move_mount", "open_tree", "fsopen", "fsconfig", "fsmount", "mount_setattr", "pivot_root"),
    *("chroot", "setns", "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module"),
    *("open_by_handle_at", "name_to_handle_at", "swapon", "swapoff", "reboot", "acct", "quotactl"),
    *("fanotify_init", "lookup_dcookie", "syslog", "settimeofday", "clock_settime", "adjtimex", "vhangup"),
)


@dataclass(slots=True)
class Root:
    """A bubblewrap sandbox, as the arguments that make it.

    Every sandbox has separate namespaces, no capabilities, one user, a system-call filter, a separate `/proc` and
    `/dev`, and the system's programs and the interpreter, read-only. The attributes are the only differences.

    Attributes:
        seccomp: the open file of the compiled filter of system calls.
        memory: writable folders in memory, path to size in bytes.
        user: the user's number inside.
        processes: limit on simultaneous processes and threads; None if the filter forbids further processes or
            something else counts them.
        first: make the command the first process of its namespace, which ignores signals it does not handle. A measured
            program must die of its signals as outside, so it is not.
        nests: allow further user namespaces, such as those of a browser around its pages.
        network: share the host's network, and show its settings.
        devices: device files of the host.
        root_bytes: size of a writable root in memory; None for a read-only one.
        info: an open pipe to which bubblewrap writes the first process's id, if any.
    """

    seccomp: int
    memory: Mapping[str, int]
    user: int = 1000
    processes: int | None = None
    first: bool = True
    nests: bool = False
    network: bool = False
    devices: Sequence[Path] = ()
    root_bytes: int | None = None
    info: int | None = None
    _mounts: list[str] = field(default_factory=list[str], init=False)

    def show(self, path: Path | str, inside: Path | str | None = None, *, optional: bool = False) -> None:
        """Show a file or folder of the host, read-only.

        Args:
            path: its path on the host.
            inside: its path in the sandbox; None for the same.
            optional: leave it out if it does not exist.
        """
        self._mounts += ["--ro-bind-try" if optional else "--ro-bind", str(path), str(inside or path)]

    def share(self, path: Path | str, inside: Path | str) -> None:
        """Show a file, folder or socket of the host, to read and write."""
        self._mounts += ["--bind", str(path), str(inside)]

    def add_file(self, descriptor: int, inside: str) -> None:
        """Add a read-only file with the content of an open one."""
        self._mounts += ["--ro-bind-data", str(descriptor), inside]

    def add_folder(self, inside: str) -> None:
        """Add an empty folder."""
        self._mounts += ["--dir", inside]

    def command(self, program: Sequence[str], *, folder: str, variables: Mapping[str, str] | None = None) -> list[str]:
        """Return the command line that runs `program` in this sandbox.

        Args:
            program: the program and its arguments, as the sandbox sees them.
            folder: the working folder.
            variables: the whole environment; None to inherit bubblewrap's.

        Raises:
            IsolationError: if bubblewrap is not installed.
        """
        arguments = [*(bounded(self.processes) if self.processes is not None else ()), bwrap()]
        arguments += [
            *_isolate(self.user, first=self.first, nests=self.nests),
            *(["--share-net"] if self.network else []),
        ]
        arguments += ["--seccomp", str(self.seccomp)]
        arguments += ["--info-fd", str(self.info)] if self.info is not None else []
        arguments += ["--size", str(self.root_bytes), "--tmpfs", "/"] if self.root_bytes is not None else []
        arguments += [*_system_view(), *_proc_view(), "--dev", "/dev"]
        for path, size in self.memory.items():
            arguments += ["--size", str(size), "--tmpfs", path]
        for device in self.devices:
            arguments += ["--dev-bind", str(device), str(device)]
        # Only after the mounts below it. `/dev` is a file system in memory, half as large as the machine's.
        arguments += ["--remount-ro", "/dev", *_etc_view(network=self.network), *_interpreter_view(), *self._mounts]
        arguments += ["--remount-ro", "/"] if self.root_bytes is None else []
        arguments += ["--chdir", folder, *(["--clearenv"] if variables is not None else [])]
        for name, value in (variables or {}).items():
            arguments += ["--setenv", name, value]
        return [*arguments, "--", *program]


def try_command(program: Sequence[str], *, nests: bool = False) -> subprocess.CompletedProcess[str]:
    """Run a command that sees the whole host (read-only) to find out whether namespaces work here.

    Args:
        program: the program and its arguments.
        nests: allow further user namespaces (in the command).

    Raises:
        IsolationError: if bubblewrap is not installed.
        OSError: if it cannot be started.
        subprocess.TimeoutExpired: if it takes longer than 20 s.
    """
    view = ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
    command = [bwrap(), *_isolate(1000, nests=nests), *view, *program]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=20, start_new_session=True)


def _isolate(user: int, *, first: bool = True, nests: bool = False) -> list[str]:
    return [
        *("--unshare-all", "--unshare-user", *([] if nests else ["--disable-userns"]), "--cap-drop", "ALL"),
        *("--uid", str(user), "--gid", str(user)),
        *("--hostname", "sandbox", "--die-with-parent", "--new-session", *(["--as-pid-1"] if first else [])),
    ]


def _system_view() -> list[str]:
    """Return the arguments that show the system's programs and libraries, read-only."""
    arguments = ["--ro-bind", "/usr", "/usr"]
    for name in LINKED:
        path = Path("/") / name
        if path.is_symlink():
            arguments += ["--symlink", os.readlink(path), str(path)]
        elif path.is_dir():
            arguments += ["--ro-bind", str(path), str(path)]
    return arguments


def _proc_view() -> list[str]:
    """Return the arguments for a separate `/proc`.

    If this program runs as root, the sandbox's user also owns the kernel's settings, with or without capabilities.
    """
    arguments = ["--proc", "/proc"]
    for name in _PROC_SETTINGS:
        if (Path("/proc") / name).exists():
            arguments += ["--ro-bind", f"/proc/{name}", f"/proc/{name}"]
    return arguments


def _etc_view(*, network: bool) -> list[str]:
    """Return the arguments that show the parts of `/etc` needed by programs, read-only."""
    arguments: list[str] = []
    for name in (*_ETC, *(_ETC_NETWORK if network else ())):
        arguments += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    return arguments


def _interpreter_view() -> list[str]:
    """Return the arguments that show the interpreter and the system's Python, both without their packages."""
    arguments: list[str] = []
    for folder in _interpreter_folders():
        arguments += ["--ro-bind", str(folder), str(folder)]
    for hidden in _hidden_folders():
        arguments += ["--tmpfs", str(hidden), "--remount-ro", str(hidden)]
    return arguments


@cache
def seccomp_program(allowed: tuple[str, ...] = (), *, forks: bool = True) -> bytes:
    """Return the compiled filter: system calls that reach past a sandbox fail, all others are allowed.

    Args:
        allowed: calls to allow in addition.
        forks: allow further processes (threads are always allowed).

    Raises:
        IsolationError: if the system calls of this machine are unknown.
    """
    rules = [
        Rule(name, refuse(errno.ENOSYS if name.startswith("io_uring") else errno.EPERM))
        for name in _DENIED
        if name not in allowed
    ]
    if not forks:
        # Without `clone3`, whose flags are invisible to a filter, libraries start threads with `clone`.
        rules.append(Rule("clone3", refuse(errno.ENOSYS)))
        rules.append(Rule("clone", refuse(errno.EPERM), ((0, 0),), mask=_CLONE_THREAD))
        # The last creates files that no memory limit counts.
        rules += [Rule(name, refuse(errno.EPERM)) for name in ("fork", "vfork", "memfd_create")]
    return compile_filter(rules, ALLOW)


@cache
def available() -> str | None:
    """Return None if commands can be confined on this machine, or else the reason and the remedy."""
    if sys.platform != "linux" or shutil.which("bwrap") is None:
        return f"bubblewrap is not installed; {_REMEDY}"
    try:
        seccomp_program()
        tried = try_command(["true"])
    except IsolationError as error:
        return str(error)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap cannot be run ({error}); {_REMEDY}"
    if tried.returncode != 0:
        return f"bubblewrap does not work here ({tried.stderr.strip()[:200]}); {_REMEDY}"
    return None


def bwrap() -> str:
    """Return the path of bubblewrap.

    Raises:
        IsolationError: if it is not installed.
    """
    path = shutil.which("bwrap")
    if path is None:
        raise IsolationError(f"bubblewrap is not installed; {_REMEDY}")
    return path


def interpreter() -> Path:
    """Return the path of the interpreter, without its environment's packages: the same in a sandbox."""
    base = Path(sys.base_prefix).resolve()
    return base / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"


def _interpreter_folders() -> list[Path]:
    base = Path(sys.base_prefix).resolve()
    if base.is_relative_to("/usr"):
        return []
    return [
        base / name for name in ("bin", "lib", "lib64") if (base / name).is_dir() and not (base / name).is_symlink()
    ]


def _visible_folders() -> list[Path]:
    return [Path("/usr"), *_interpreter_folders()]


def _hidden_folders() -> list[Path]:
    """Return visible folders of packages, which may hold simulators."""
    folders = {p for p in trusted_folders() if any(p.is_relative_to(v) for v in _visible_folders())}
    for library in ("/usr/lib", "/usr/local/lib", "/usr/lib64", *map(str, _interpreter_folders())):
        for kind in ("site-packages", "dist-packages"):
            folders.update(p.resolve() for p in Path(library).glob(f"python3*/{kind}") if p.is_dir())
    return sorted(folders)


def agents_folder() -> Path:
    """Return the folder of the bundled agents, the only part of the package that an agent may see."""
    return Path(heredity.__file__).resolve().parent / "library" / "agents"


def trusted_folders() -> Iterator[Path]:
    """Yield the folders that hold `heredity` and the packages of this interpreter."""
    names = [*site.getsitepackages(), site.getusersitepackages(), str(Path(heredity.__file__).parents[1])]
    return (Path(name).resolve() for name in names if os.path.isdir(name))
