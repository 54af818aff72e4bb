"""Isolation layers available on this machine, and the settings for starting a zygote.

Three layers confine a policy worker: namespaces (own process, network, mount and IPC namespaces), Landlock (an
allow-list of readable files, one writable folder) and seccomp (an allow-list of system calls). A run refuses to start
where one is missing, unless started as unsafe; its record keeps the tier.
"""

from __future__ import annotations

import errno
import importlib.util
import os
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from heredity._core.errors import ConfigError, IsolationError
from heredity.sandbox.guest import confine
from heredity.sandbox.seccomp import ALLOW, Rule, compile_filter, refuse

SLOTS = 8
"""Simultaneous workers of one zygote, each with a separate scratch folder."""

LAYERS = ("namespaces", "landlock", "seccomp")
GUEST_FOLDER = Path(__file__).parent / "guest"

ALLOWED_PACKAGES = ("numpy", "scipy", "networkx", "sortedcontainers", "yaml", "pypdf", "openpyxl", "et_xmlfile")
"""Packages that programs may import if installed: mathematics, data structures and YAML, no simulator."""

SYSCALLS = [
    "read",
    "readv",
    "write",
    "writev",
    "pread64",
    "preadv",
    "pwrite64",
    "pwritev",
    "lseek",
    "close",
    "close_range",
    "fstat",
    "newfstatat",
    "stat",
    "lstat",
    "statx",
    "open",
    "openat",
    "access",
    "faccessat",
    "faccessat2",
    "getdents",
    "getdents64",
    "readlink",
    "readlinkat",
    "getcwd",
    "chdir",
    "fchdir",
    "dup",
    "dup2",
    "dup3",
    "flock",
    "ftruncate",
    "truncate",
    "fsync",
    "fdatasync",
    "mkdir",
    "mkdirat",
    "rmdir",
    "unlink",
    "unlinkat",
    "rename",
    "renameat",
    "renameat2",
    "sendfile",
    "copy_file_range",
    "fadvise64",
    "mmap",
    "mprotect",
    "munmap",
    "mremap",
    "madvise",
    "brk",
    "msync",
    "mincore",
    "membarrier",
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "rt_sigpending",
    "rt_sigtimedwait",
    "sigaltstack",
    "futex",
    "futex_waitv",
    "sched_yield",
    "sched_getaffinity",
    "gettid",
    "getpid",
    "getppid",
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "getgroups",
    "getrlimit",
    "getrusage",
    "times",
    "uname",
    "sysinfo",
    "clock_gettime",
    "clock_getres",
    "clock_nanosleep",
    "nanosleep",
    "gettimeofday",
    "time",
    "getrandom",
    "getcpu",
    "poll",
    "ppoll",
    "select",
    "pselect6",
    "exit",
    "exit_group",
    "set_robust_list",
    "get_robust_list",
    "rseq",
    "restart_syscall",
    "set_tid_address",
    "arch_prctl",
]

_CLONE_THREAD = 0x00010000
_PR_SET_NAME = 15
_FCNTL_COMMANDS = (*range(8), 1030)
"""Duplicating, flags and locks; not the owner and signal of a descriptor, which would let a process send any signal."""
_TCGETS = 0x5401
_FIOCLEX = 0x5451


@dataclass(frozen=True, slots=True)
class Isolation:
    """Active layers.

    Attributes:
        namespaces: separate process, network, mount, IPC and host-name namespaces.
        landlock: file access by allow-list.
        seccomp: system calls by allow-list.
    """

    namespaces: bool
    landlock: bool
    seccomp: bool

    @property
    def tier(self) -> str:
        """The layers by name, such as `"namespaces+landlock+seccomp"`, or `"none"`."""
        return "+".join(layer for layer in LAYERS if getattr(self, layer)) or "none"


@dataclass(frozen=True, slots=True)
class LayerReport:
    """Result of testing one layer: whether it works, or the reason and the remedy."""

    layer: str
    works: bool
    detail: str
    remedy: str = ""


def probe() -> list[LayerReport]:
    """Try each layer in a child process and report which work."""
    return [_probe_namespaces(), _probe_landlock(), _probe_seccomp()]


def resolve(*, unsafe: bool = False) -> Isolation:
    """Return the layers to use: all three, or with `unsafe` those that work.

    Raises:
        IsolationError: if a layer does not work here and `unsafe` is False.
    """
    reports = _cached_probe()
    missing = [r for r in reports if not r.works]
    if missing and not unsafe:
        reasons = "; ".join(f"{r.layer}: {r.detail}" for r in missing)
        raise IsolationError(
            f"this machine cannot isolate policies ({reasons}); run `heredity doctor` for what to do, or pass --unsafe to "
            "run them with less isolation, which the record will say"
        )
    return Isolation(**{r.layer: r.works for r in reports})


@cache
def _cached_probe() -> tuple[LayerReport, ...]:
    return tuple(probe())


def _probe_namespaces() -> LayerReport:
    code = (
        "import os, sys; sys.path.insert(0, sys.argv[1]); import confine; confine.enter_namespaces()\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    confine.mount_scratch(sys.argv[2], 1 << 20); os._exit(0 if os.getpid() == 1 else 3)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"
    )
    # Mounted over in separate namespaces: nothing is created there, so a killed process leaves nothing.
    command = [sys.executable, "-I", "-S", "-c", code, str(GUEST_FOLDER), tempfile.gettempdir()]
    # Ctrl-C in a terminal would end the trial, and look like its result.
    result = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False, start_new_session=True)
    if result.returncode == 0:
        return LayerReport("namespaces", True, "own process, network, mount and IPC namespaces")
    detail = (result.stderr.strip().splitlines() or ["no reason given"])[-1]
    remedy = "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1 and user.max_user_namespaces > 0"
    return LayerReport("namespaces", False, detail, remedy)


def _probe_landlock() -> LayerReport:
    abi = confine.landlock_abi()
    if abi >= 1:
        return LayerReport("landlock", True, f"kernel interface version {abi}")
    return LayerReport("landlock", False, "the kernel has no Landlock", "use Linux 5.13 or later with lsm=landlock")


def _probe_seccomp() -> LayerReport:
    try:
        size = len(seccomp_program())
    except IsolationError as error:
        return LayerReport("seccomp", False, *str(error).split("; ", 1))
    return LayerReport("seccomp", True, f"allow-list of {len(SYSCALLS)} system calls, {size // 8} instructions")


@cache
def seccomp_program() -> bytes:
    """Compile the system-call filter to BPF.

    All other calls fail with EPERM. `clone` may only make threads, and `clone3`, whose flags are invisible to a
    filter, returns ENOSYS so that the C library falls back to `clone`.

    Raises:
        IsolationError: if the system calls of this machine are unknown.
    """
    rules = [
        *(Rule(name, ALLOW) for name in SYSCALLS),
        Rule("clone", ALLOW, ((0, _CLONE_THREAD),), mask=_CLONE_THREAD),
        Rule("clone3", refuse(errno.ENOSYS)),
        Rule("prctl", ALLOW, ((0, _PR_SET_NAME),)),
        Rule("prlimit64", ALLOW, ((0, 0), (2, 0))),
        *(Rule("ioctl", ALLOW, ((1, request),)) for request in (_TCGETS, _FIOCLEX)),
        *(Rule("fcntl", ALLOW, ((1, command),)) for command in _FCNTL_COMMANDS),
    ]
    return compile_filter(rules, refuse(errno.EPERM))


def package_folders(names: tuple[str, ...] = ALLOWED_PACKAGES) -> dict[str, Path]:
    """Return packages and their bundled shared libraries: name to path, for a single-file package its file.

    Allow-listed ones only if installed; the standard library's dependencies need not be shown.

    Raises:
        ConfigError: if another package is not installed.
    """
    entries: dict[str, Path] = {}
    for name in names:
        if name in sys.stdlib_module_names:
            continue
        path = _package_path(name)
        if path is None:
            if name in ALLOWED_PACKAGES:
                continue
            raise ConfigError(
                f"the package {name!r:.80} is not installed in {sys.prefix}; install it there, or give the name that "
                "programs import"
            )
        entries[name if path.is_dir() else path.name] = path
        libraries = path.parent / f"{name}.libs"
        if libraries.is_dir():
            entries[libraries.name] = libraries
    return entries


def _package_path(name: str) -> Path | None:
    spec = importlib.util.find_spec(name) if name.isidentifier() else None
    if spec is None:
        return None
    if spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations)))
    return Path(spec.origin) if spec.has_location and spec.origin else None


def make_package_tree(folder: Path, names: tuple[str, ...] = ALLOWED_PACKAGES) -> dict[str, Path]:
    """Fill `folder` with links to the allow-listed packages, to keep the rest of site-packages off the path."""
    targets = package_folders(names)
    folder.mkdir(parents=True, exist_ok=True)
    for name, target in targets.items():
        link = folder / name
        if not link.is_symlink():
            link.symlink_to(target)
    return targets


def zygote_settings(isolation: Isolation, folder: Path, scratch_bytes: int) -> dict[str, Any]:
    """Return the JSON settings of a zygote (see `guest/zygote.py`).

    Args:
        isolation: the layers to use.
        folder: the engine's folder; `packages`, `programs` and `scratch` are created in it.
        scratch_bytes: size of the memory-backed scratch folder of each worker.
    """
    import base64

    for name in ("packages", "programs", "scratch"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    packages = folder / "packages"
    targets = make_package_tree(packages)
    spec = importlib.util.find_spec("gymnasium")
    if spec is None or spec.origin is None:
        raise IsolationError("gymnasium is not installed; pip install gymnasium")
    return {
        "main": "policy",
        "guest": str(GUEST_FOLDER),
        "packages": str(packages),
        "programs": str(folder / "programs"),
        "scratch": str(folder / "scratch"),
        "scratch_bytes": scratch_bytes,
        "slots": SLOTS,
        "gymnasium": str(Path(spec.origin).parent),
        "preload": [
            "numpy",
            "numpy.random",
            "numpy.linalg",
            "math",
            "json",
            "random",
            "dataclasses",
            "collections",
            "heapq",
        ],
        "readable": [str(p) for p in (packages, *targets.values(), *_system_files(), *_standard_library())],
        "coarse": [str(p) for p in (packages, *targets.values(), *_COARSE, sysconfig.get_paths()["stdlib"])],
        "allowed": sorted(n for n in targets if not n.endswith(".libs")),
        "seccomp": base64.b64encode(seccomp_program()).decode() if isolation.seccomp else "",
        "landlock": isolation.landlock,
        "namespaces": isolation.namespaces,
    }


_COARSE = ("/dev/null", "/dev/urandom", "/etc/localtime", "/usr/share/zoneinfo", "/lib", "/usr/lib", "/lib64")


def _standard_library() -> list[Path]:
    standard = Path(sysconfig.get_paths()["stdlib"])
    hidden = {"site-packages", "dist-packages", "test", "idlelib", "ensurepip"}
    return [p for p in sorted(standard.iterdir()) if p.name not in hidden]


def _system_files() -> list[Path]:
    machine = os.uname().machine
    libraries = [Path(root) / f"{machine}-linux-gnu" for root in ("/lib", "/usr/lib", "/lib64")]
    return [*(Path(p) for p in _COARSE[:4]), *(p for p in libraries if p.is_dir())]
