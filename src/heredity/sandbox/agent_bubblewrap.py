"""The sandbox of an outside agent: a bubblewrap command line.

Inside, the agent has separate namespaces (user, process, network, IPC, host name, cgroup), no capabilities, its
workspace with the host's files in it read-only, the system's programs and an allow-listed view of the interpreter. It
reaches its session through one Unix socket, and a broker of language models through another (optional). Nothing else
is visible: no simulator, no `heredity`, no run folder, no hidden case.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from heredity._core.errors import ConfigError
from heredity.sandbox.bubblewrap_root import (
    Root,
    agents_folder,
    available,
    interpreter,
    seccomp_program,
    trusted_folders,
)
from heredity.sandbox.isolation import ALLOWED_PACKAGES, package_folders

__all__ = [
    "GUEST_CLIENT",
    "INSIDE",
    "READ_ONLY",
    "RELAY",
    "Confinement",
    "Descriptors",
    "available",
    "folder_variables",
    "open_descriptors",
]

GUEST_CLIENT = Path(__file__).parent / "guest_client.py"
"""The script that becomes `bin/heredity`, `bin/submit` and `bin/finish` in a workspace."""

RELAY = Path(__file__).parent / "relay.py"
"""The script that is the first process of a sandbox."""

READ_ONLY = ("AGENTS.md", "TASK.md", "run_meta.json", "bin", "feedback")
"""Names in a workspace that the host writes and the agent can only read."""

INSIDE = "/workspace"
"""Path of the workspace inside the sandbox."""

_SOCKET = "/run/heredity/session.sock"
_BROKER = "/run/heredity/broker.sock"
_LOGIN = "/run/heredity/login"
_PACKAGES = "/opt/heredity/packages"
_RELAY = "/opt/heredity/relay.py"


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
    """Permissions of a sandboxed agent.

    Attributes:
        workspace: the agent's folder, visible as `/workspace`.
        socket: the session's Unix socket; None for a program without a session.
        broker: the Unix socket of a broker of language models, if the agent may use one.
        read_only: folders and files of the host needed by the agent's programs, at the same paths inside.
        protected: folders that must stay hidden, such as the hidden cases; the workspace's parent always is one.
        packages: importable packages beyond the standard library.
        environment: variables for the agent, in addition to the common ones; nothing else is inherited.
        network: share the host's network. Everything on it can then be reached, including a machine with a simulator.
        tmp_bytes: size of `/tmp`, in memory.
        processes: limit on simultaneous processes and threads.
        file_bytes: size limit of the agent's files, in bytes.
        host_files: names in the workspace that the host writes; the agent can only read them.
        trees: folders and files of the host shown next to the packages under other names, name to path.
        logins: files of a login of the user: path below `HOME` to path on the host. The agent can read them.
        devices: device files of the host for the agent, such as those of a GPU; their drivers are then within its
            reach.
    """

    workspace: Path
    socket: Path | None
    broker: Path | None = None
    read_only: tuple[Path, ...] = ()
    protected: tuple[Path, ...] = ()
    packages: tuple[str, ...] = ALLOWED_PACKAGES
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    network: bool = False
    tmp_bytes: int = 256 << 20
    processes: int = 1024
    file_bytes: int = 1 << 30
    host_files: tuple[str, ...] = READ_ONLY
    trees: Mapping[str, Path] = field(default_factory=dict[str, Path])
    devices: tuple[Path, ...] = ()
    logins: Mapping[str, Path] = field(default_factory=dict[str, Path])

    @property
    def tier(self) -> str:
        """Name of the isolation, for the record of the run."""
        return "bubblewrap+seccomp" + ("+network" if self.network else "") + ("+devices" if self.devices else "")

    def variables(self) -> dict[str, str]:
        """Return the whole environment of the sandbox."""
        base = interpreter().parent
        own = {
            "PATH": f"{INSIDE}/bin:{base}:/usr/local/bin:/usr/bin:/bin",
            "HOME": f"{INSIDE}/.home",
            "TMPDIR": "/tmp",
            "LANG": "C.UTF-8",
            "PYTHONPATH": _PACKAGES,
            "PYTHONNOUSERSITE": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            **({"HEREDITY_SOCKET": _SOCKET, **folder_variables(INSIDE)} if self.socket is not None else {}),
        }
        own |= {"HEREDITY_LOGIN": _LOGIN} if self.logins else {}
        return {**self.environment, **own, **({"PATH": f"{own['PATH']}:{path}"} if (path := self._path()) else {})}

    def _path(self) -> str:
        return self.environment.get("PATH", "")

    def arguments(self, command: Sequence[str], descriptors: Descriptors) -> list[str]:
        """Return the bubblewrap command line that runs `command` in this sandbox.

        Args:
            command: program and arguments, as the sandbox sees them.
            descriptors: open files for bubblewrap to inherit.

        Raises:
            ConfigError: if a folder to show would reveal what must stay hidden.
        """
        self._check_visible()
        root = Root(
            descriptors.seccomp,
            {"/dev/shm": self.tmp_bytes, "/tmp": self.tmp_bytes},
            processes=self.processes,
            network=self.network,
            devices=self.devices,
            info=descriptors.info,
        )
        root.add_file(descriptors.passwd, "/etc/passwd")
        root.add_file(descriptors.group, "/etc/group")
        for path in self.read_only:
            root.show(path.resolve(), path.absolute())
        for name, folder in {**package_folders(self.packages), **self.trees}.items():
            root.show(folder, f"{_PACKAGES}/{name}")
        root.show(RELAY, _RELAY)
        relay = [str(interpreter()), "-I", _RELAY]
        for option, path, inside in (("--socket", self.socket, _SOCKET), ("--broker", self.broker, _BROKER)):
            if path is not None:
                root.share(path, inside)
                relay += [option, inside]
        root.share(self.workspace.absolute(), INSIDE)
        for name in self.host_files:
            if (self.workspace / name).exists():
                root.show(self.workspace.absolute() / name, f"{INSIDE}/{name}")
        for name, path in self.logins.items():
            root.show(path.resolve(), f"{_LOGIN}/{name}")
        limits = ["--processes", str(self.processes), "--file-bytes", str(self.file_bytes)]
        return root.command([*relay, *limits, "--", *command], folder=INSIDE)

    def _check_visible(self) -> None:
        own = [self.workspace.resolve().parent, *(p.resolve() for p in self.protected)]
        for shown in self.read_only:
            path = shown.resolve()
            if not path.exists():
                raise ConfigError(
                    f"{shown} is to be shown to the agent, and does not exist; correct the path or leave it out"
                )
            shipped = path.is_relative_to(agents_folder())
            for folder in (*own, *(() if shipped else trusted_folders())):
                if path.is_relative_to(folder) or folder.is_relative_to(path):
                    raise ConfigError(
                        f"showing {shown} to the agent would reveal {folder}, which holds records, hidden cases or "
                        "simulators; show a narrower folder"
                    )


def folder_variables(workspace: str) -> dict[str, str]:
    """Return the environment variables with the paths of an agent's files."""
    places = {"WORKSPACE": "", "SYSTEM": "/system", "FEEDBACK": "/feedback", "AGENTS": "/AGENTS.md"}
    variables = {
        f"{owner}_{name}": workspace + path for owner in ("HEREDITY", "EVOPOLICYGYM") for name, path in places.items()
    }
    return {**variables, "EVOPOLICYGYM_PROTOCOL": "0.1"}


@contextlib.contextmanager
def open_descriptors() -> Generator[tuple[Descriptors, int]]:
    """Open the descriptors for bubblewrap; yields them and the reading end of its information.

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
