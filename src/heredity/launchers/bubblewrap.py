"""The sandbox of an outside agent: a bubblewrap command line, and whether it works on this machine.

Inside, the agent has namespaces of its own (user, process, network, IPC, host name, cgroup), no capabilities, its
workspace with the host's files in it read-only, the system's programs and an allow-listed view of the interpreter. It
reaches its session through one Unix socket, and nothing else: no simulator, no `heredity`, no run folder, no hidden
case.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import site
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import heredity
from heredity.errors import ConfigError, IsolationError
from heredity.rollouts.isolation import ALLOWED_PACKAGES, package_folders

GUEST_CLIENT = Path(__file__).parent / "guest_client.py"
"""The script that becomes `bin/heredity`, `bin/submit` and `bin/finish` in a workspace."""

RELAY = Path(__file__).parent / "relay.py"
"""The script that is the first process of a sandbox."""

READ_ONLY = ("AGENTS.md", "TASK.md", "run_meta.json", "bin", "feedback")
"""What the host writes into a workspace; an agent can read it only."""

INSIDE = "/workspace"
"""Where the agent finds its workspace."""

_SOCKET = "/run/heredity/session.sock"
_PACKAGES = "/opt/heredity/packages"
_RELAY = "/opt/heredity/relay.py"
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
_REMEDY = "install bubblewrap 0.8 or later (Debian: apt-get install bubblewrap) and allow user namespaces"

_DENIED = (
    *("add_key", "keyctl", "request_key", "bpf", "perf_event_open", "userfaultfd", "io_uring_setup"),
    *("io_uring_enter", "io_uring_register", "ptrace", "process_vm_readv", "process_vm_writev", "mount", "umount2"),
    *("move_mount", "open_tree", "fsopen", "fsconfig", "fsmount", "mount_setattr", "pivot_root"),
    *("chroot", "setns", "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module"),
    *("open_by_handle_at", "name_to_handle_at", "swapon", "swapoff", "reboot", "acct", "quotactl"),
    *("fanotify_init", "lookup_dcookie", "syslog", "settimeofday", "clock_settime", "adjtimex", "vhangup"),
)


@dataclass(frozen=True, slots=True)
class Descriptors:
    """Open files that bubblewrap inherits.

    Attributes:
        seccomp: the compiled system-call filter.
        passwd: the sandbox's `/etc/passwd`.
        group: the sandbox's `/etc/group`.
        info: a pipe to which bubblewrap writes the first process's id.
    """

    seccomp: int
    passwd: int
    group: int
    info: int

    def __iter__(self) -> Iterator[int]:
        return iter((self.seccomp, self.passwd, self.group, self.info))


@dataclass(frozen=True, slots=True)
class Confinement:
    """What a sandboxed agent gets.

    Attributes:
        workspace: the agent's folder, found at `/workspace` inside.
        socket: the session's Unix socket.
        read_only: folders and files of the host that the agent's own programs need, at the same paths inside.
        protected: folders that may not be made visible, such as the sealed cases; the workspace's parent always is one.
        packages: importable packages beyond the standard library.
        environment: variables for the agent, beyond those that every agent has; nothing else is inherited.
        network: share the host's network. Whatever is on it, a machine with a simulator included, can then be reached.
        tmp_bytes: size of `/tmp`, in memory.
        processes: most processes and threads at once.
        file_bytes: size of the largest file that the agent may write.
    """

    workspace: Path
    socket: Path
    read_only: tuple[Path, ...] = ()
    protected: tuple[Path, ...] = ()
    packages: tuple[str, ...] = ALLOWED_PACKAGES
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    network: bool = False
    tmp_bytes: int = 256 << 20
    processes: int = 1024
    file_bytes: int = 1 << 30

    @property
    def tier(self) -> str:
        """The isolation by name, for the record of the run."""
        return "bubblewrap+seccomp" + ("+network" if self.network else "")

    def variables(self) -> dict[str, str]:
        """Return the whole environment of the sandbox."""
        base = _interpreter().parent
        own = {
            "PATH": f"{INSIDE}/bin:{base}:/usr/local/bin:/usr/bin:/bin",
            "HOME": f"{INSIDE}/.home",
            "TMPDIR": "/tmp",
            "LANG": "C.UTF-8",
            "PYTHONPATH": _PACKAGES,
            "PYTHONNOUSERSITE": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "HEREDITY_SOCKET": _SOCKET,
            **folder_variables(INSIDE),
        }
        return {**self.environment, **own, **({"PATH": f"{own['PATH']}:{path}"} if (path := self._path()) else {})}

    def _path(self) -> str:
        return self.environment.get("PATH", "")

    def arguments(self, command: Sequence[str], descriptors: Descriptors) -> list[str]:
        """Return the bubblewrap command line that runs `command` in this sandbox.

        Args:
            command: program and arguments, as the sandbox sees them.
            descriptors: open files that bubblewrap is to inherit.

        Raises:
            ConfigError: if a folder to show would reveal what must stay hidden.
        """
        self._check_visible()
        arguments = [_bwrap(), *_ISOLATE, *(() if not self.network else ("--share-net",))]
        arguments += ["--seccomp", str(descriptors.seccomp), "--info-fd", str(descriptors.info)]
        arguments += [*self._system(descriptors), *self._interpreter_view()]
        for path in self.read_only:
            arguments += ["--ro-bind", str(path.resolve()), str(path.absolute())]
        for name, folder in package_folders(self.packages).items():
            arguments += ["--ro-bind", str(folder), f"{_PACKAGES}/{name}"]
        arguments += ["--ro-bind", str(RELAY), _RELAY, "--bind", str(self.socket), _SOCKET]
        arguments += ["--bind", str(self.workspace), INSIDE]
        for name in READ_ONLY:
            if (self.workspace / name).exists():
                arguments += ["--ro-bind", str(self.workspace / name), f"{INSIDE}/{name}"]
        arguments += ["--remount-ro", "/", "--chdir", INSIDE, "--"]
        relay = [str(_interpreter()), "-I", _RELAY, "--socket", _SOCKET]
        limits = ["--processes", str(self.processes), "--file-bytes", str(self.file_bytes)]
        return [*arguments, *relay, *limits, "--", *command]

    def _system(self, descriptors: Descriptors) -> list[str]:
        arguments = ["--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev"]
        # Where this program runs as root, the kernel's settings belong to the agent's user too, capabilities or not.
        for name in _PROC_SETTINGS:
            if (Path("/proc") / name).exists():
                arguments += ["--ro-bind", f"/proc/{name}", f"/proc/{name}"]
        arguments += [
            "--size",
            str(self.tmp_bytes),
            "--tmpfs",
            "/dev/shm",
            "--size",
            str(self.tmp_bytes),
            "--tmpfs",
            "/tmp",
        ]
        for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
            path = Path("/") / name
            if path.is_symlink():
                arguments += ["--symlink", os.readlink(path), str(path)]
            elif path.is_dir():
                arguments += ["--ro-bind", str(path), str(path)]
        for name in (*_ETC, *(_ETC_NETWORK if self.network else ())):
            arguments += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
        for descriptor, name in ((descriptors.passwd, "passwd"), (descriptors.group, "group")):
            arguments += ["--ro-bind-data", str(descriptor), f"/etc/{name}"]
        return arguments

    def _interpreter_view(self) -> list[str]:
        arguments: list[str] = []
        for folder in _interpreter_folders():
            arguments += ["--ro-bind", str(folder), str(folder)]
        for hidden in _hidden_folders():
            arguments += ["--tmpfs", str(hidden), "--remount-ro", str(hidden)]
        return arguments

    def _check_visible(self) -> None:
        secret = [self.workspace.resolve().parent, *(p.resolve() for p in self.protected), *_trusted_folders()]
        for shown in self.read_only:
            path = shown.resolve()
            if not path.exists():
                raise ConfigError(
                    f"{shown} is to be shown to the agent, and does not exist; correct the path or leave it out"
                )
            for folder in secret:
                if path.is_relative_to(folder) or folder.is_relative_to(path):
                    raise ConfigError(
                        f"showing {shown} to the agent would reveal {folder}, which holds records, hidden cases or "
                        "simulators; show a narrower folder"
                    )


_ISOLATE = (
    *("--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL", "--uid", "1000", "--gid", "1000"),
    *("--hostname", "sandbox", "--die-with-parent", "--new-session", "--as-pid-1"),
)


def folder_variables(workspace: str) -> dict[str, str]:
    """Return the environment variables that tell an agent where its files are."""
    places = {"WORKSPACE": "", "SYSTEM": "/system", "FEEDBACK": "/feedback", "AGENTS": "/AGENTS.md"}
    found = {
        f"{owner}_{name}": workspace + path for owner in ("HEREDITY", "EVOPOLICYGYM") for name, path in places.items()
    }
    return {**found, "EVOPOLICYGYM_PROTOCOL": "0.1"}


@contextlib.contextmanager
def open_descriptors() -> Generator[tuple[Descriptors, int]]:
    """Open what bubblewrap is to inherit; yields it and the end from which its information is read.

    The reading end belongs to the caller from then on. The others are closed when the block ends.
    """
    with contextlib.ExitStack() as stack:
        texts = (seccomp_program(), f"agent:x:1000:1000:agent:{INSIDE}/.home:/bin/sh\n".encode(), b"agent:x:1000:\n")
        files: list[int] = []
        for text in texts:
            file = stack.enter_context(tempfile.TemporaryFile())
            file.write(text)
            file.seek(0)
            files.append(file.fileno())
        reading, writing = os.pipe()
        stack.callback(os.close, writing)
        yield Descriptors(files[0], files[1], files[2], writing), reading


@cache
def seccomp_program() -> bytes:
    """Return the compiled filter: system calls that reach past a sandbox fail, all others are allowed.

    Raises:
        IsolationError: if the filter cannot be compiled here.
    """
    try:
        import pyseccomp
    except (ImportError, RuntimeError) as error:
        raise IsolationError(
            "system calls cannot be filtered: install libseccomp2 and pip install pyseccomp"
        ) from error
    rules = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    for name in _DENIED:
        # A call that this architecture or this version of the library does not have needs no rule.
        if _known(pyseccomp, name):
            rules.add_rule(pyseccomp.ERRNO(38 if name.startswith("io_uring") else 1), name)
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        return file.read()


@cache
def available() -> str | None:
    """Return None if agents can be confined on this machine, or else why not and what to do."""
    if sys.platform != "linux" or shutil.which("bwrap") is None:
        return f"bubblewrap is not installed; {_REMEDY}"
    try:
        seccomp_program()
        trial = [_bwrap(), *_ISOLATE, "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "true"]
        tried = subprocess.run(trial, check=False, capture_output=True, text=True, timeout=20)
    except IsolationError as error:
        return str(error)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap cannot be run ({error}); {_REMEDY}"
    if tried.returncode != 0:
        return f"bubblewrap does not work here ({tried.stderr.strip()[:200]}); {_REMEDY}"
    return None


def _known(pyseccomp: object, name: str) -> bool:
    resolve = getattr(pyseccomp, "resolve_syscall", None)
    if resolve is None:
        return True
    try:
        return int(resolve(getattr(pyseccomp, "Arch").NATIVE, name)) >= 0  # noqa: B009
    except (AttributeError, ValueError):
        return False


def _bwrap() -> str:
    found = shutil.which("bwrap")
    if found is None:
        raise IsolationError(f"bubblewrap is not installed; {_REMEDY}")
    return found


def _interpreter() -> Path:
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
    """Folders of packages below what is visible: they may hold simulators."""
    found = {p for p in _trusted_folders() if any(p.is_relative_to(v) for v in _visible_folders())}
    for library in ("/usr/lib", "/usr/local/lib", "/usr/lib64", *map(str, _interpreter_folders())):
        for kind in ("site-packages", "dist-packages"):
            found.update(p.resolve() for p in Path(library).glob(f"python3*/{kind}") if p.is_dir())
    return sorted(found)


def _trusted_folders() -> Iterator[Path]:
    """Folders that hold `heredity` and the packages of this interpreter."""
    names = [*site.getsitepackages(), site.getusersitepackages(), str(Path(heredity.__file__).parents[1])]
    return (Path(name).resolve() for name in names if os.path.isdir(name))
