"""Sandboxes for container tasks: interfaces for running commands in a task's environment and for making it, and their backends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from heredity._core.errors import ConfigError
from heredity._core.plugins import Group
from heredity.sandbox.containers.task import ContainerTask

BACKENDS: Group[Callable[[], Backend]] = Group(
    "heredity.sandboxes", "backend of containers", "a function without arguments that returns a Backend", callable
)
"""Backends for container tasks: `"bubblewrap"`, `"docker"` (Docker or Podman, whichever answers), and those of
packages.
"""


@asynccontextmanager
async def open_backend(name: str) -> AsyncGenerator[Backend]:
    """Open a backend by name, and close it when the block ends.

    Raises:
        UnknownNameError: if the name is unknown.
        ConfigError: if it cannot be loaded, or no engine answers.
        IsolationError: if this machine cannot isolate it.
    """
    # It may search for an engine, which takes a while.
    backend = await asyncio.to_thread(BACKENDS.load(name))
    try:
        yield backend
    finally:
        await backend.close()


AGENT_S = 3600.0
"""Default wall seconds for an agent."""


@dataclass(frozen=True, slots=True)
class ContainerLimits:
    """Upper limits of one environment; a task may lower them, but not raise them.

    Attributes:
        memory_bytes: memory of all processes together.
        disk_bytes: size of all written files, in memory.
        processes: simultaneous processes.
        files: files, folders and links in a saved environment.
        output_bytes: bytes kept of a command's stdout and of its stderr, half from the start and half from the end.
    """

    memory_bytes: int = 2 << 30
    disk_bytes: int = 1 << 30
    processes: int = 512
    files: int = 100_000
    output_bytes: int = 256 << 10

    def __post_init__(self) -> None:
        for name in ("memory_bytes", "disk_bytes", "processes", "files", "output_bytes"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}; expected 1 or more")

    def memory(self, task: ContainerTask) -> int:
        """Return the memory limit of a task, in bytes."""
        return min(self.memory_bytes, (task.environment.memory_mb or 1 << 20) << 20)

    def disk(self, task: ContainerTask) -> int:
        """Return the disk limit of a task, in bytes."""
        return min(self.disk_bytes, (task.environment.storage_mb or 1 << 20) << 20)


@dataclass(frozen=True, slots=True)
class ExecResult:
    """Result of a command.

    Attributes:
        code: its exit code; 128 + N when signal N ended it.
        stdout: its output, with a note in the middle if it was cut.
        stderr: likewise.
        reason: `"exited"`, `"timeout"`, `"memory"` or `"processes"` (ended for exceeding a limit), `"not_started"`.
        seconds: wall time.
    """

    code: int
    stdout: str
    stderr: str
    reason: str = "exited"
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Image:
    """A saved environment, from which sandboxes start.

    Attributes:
        name: its name in its backend.
        env: variables of every command.
        workdir: initial folder of commands.
    """

    name: str
    env: Mapping[str, str]
    workdir: str


@dataclass(frozen=True, slots=True)
class Settled:
    """State of a sandbox after all of its processes were ended.

    Attributes:
        image: the content of its disk.
        processes: command lines of the processes that were still running.
        discarded: files in place of the verifier's, links to there or to the kernel's files, pipes, sockets and
            devices; the image contains none of them.
        disk_full: whether the disk was full.
        exceeded: the last limit that ended its processes, `"memory"` or `"processes"`; empty for none.
    """

    image: Image
    processes: tuple[str, ...] = ()
    discarded: tuple[str, ...] = ()
    disk_full: bool = False
    exceeded: str = ""


@dataclass(frozen=True, slots=True)
class Phase:
    """Purpose of a sandbox.

    Attributes:
        building: it makes an image, whose `/tests` is then the image's.
        verifying: it runs the verifier. `/logs/verifier` and its home are then fresh mounts, and neither the image
            nor the agent can make a program load foreign code (`verifiers_variables`).
        env: variables in addition to the image's.
    """

    building: bool = False
    verifying: bool = False
    env: Mapping[str, str] = field(default_factory=dict[str, str])


HIJACKING = (
    *("BASH_ENV", "ENV", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS", "CDPATH", "IFS"),
    *("LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "GCONV_PATH", "LOCPATH"),
    *("PYTHONSTARTUP", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONINSPECT", "PYTHONBREAKPOINT", "PYTEST_ADDOPTS"),
    *("PYTEST_PLUGINS", "PERL5OPT", "PERL5LIB", "RUBYOPT", "RUBYLIB", "NODE_OPTIONS", "NODE_PATH", "JAVA_TOOL_OPTIONS"),
    *("GIT_DIR", "GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND", "GIT_EXEC_PATH", "EDITOR", "VISUAL", "PAGER"),
)
"""Variables that make a program load or start others. The image's do not reach the verifier; those of `verifier.env`
do.
"""

GUARD = "/run/heredity"
"""Folder for a sandbox's own files, which are never part of an image."""

HOME = f"{GUARD}/home"
"""The verifier's home."""

_GIT = ("core.hooksPath=/dev/null", "core.fsmonitor=false", "core.pager=cat", "safe.directory=*")


def verifiers_variables(image: Mapping[str, str], own: Mapping[str, str], system: str) -> dict[str, str]:
    """Return a verifier's variables: a clean set, plus those of its task.

    Python finds its standard modules and packages first, and the working folder last (`guard/sitecustomize.py`).

    Args:
        image: variables of its image.
        own: variables of its task.
        system: PATH of folders that an agent cannot write to.
    """
    variables = {name: value for name, value in {**image, **own}.items() if name in own or name not in HIJACKING}
    settings = [setting.split("=", 1) for setting in _GIT]
    return {
        **variables,
        "HOME": HOME,
        "PATH": f"{system}:{own['PATH']}" if "PATH" in own else system,
        "PYTHONNOUSERSITE": "1",
        "PYTHONSAFEPATH": "1",
        "PYTHONPATH": f"{GUARD}/python",
        "HEREDITY_PYTHONPATH": variables.get("PYTHONPATH", ""),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_SYSTEM": "/dev/null",
        "GIT_CONFIG_COUNT": str(len(settings)),
        **{f"GIT_CONFIG_KEY_{index}": key for index, (key, _) in enumerate(settings)},
        **{f"GIT_CONFIG_VALUE_{index}": value for index, (_, value) in enumerate(settings)},
    }


class ContainerSandbox(Protocol):
    """A running environment for commands. One command runs at a time; its background processes continue."""

    async def start(self) -> None:
        """Prepare it for commands.

        Raises:
            IsolationError: if this machine cannot isolate it.
            CandidateError: if the image cannot be restored.
        """
        ...

    async def exec(
        self, command: str, *, timeout_s: float = 60.0, env: Mapping[str, str] | None = None, workdir: str | None = None
    ) -> ExecResult:
        """Run a command with bash and wait for it.

        Raises:
            HostError: if the sandbox is gone.
        """
        ...

    async def upload(self, source: Path, target: str, *, mode: int | None = None) -> None:
        """Copy a file to a path, or a folder's content into a folder.

        Raises:
            CandidateError: if the space does not suffice, or something blocks the target.
        """
        ...

    async def download(self, source: str, target: Path) -> None:
        """Fetch a file to a path, or a folder's content into a folder: files and folders only, no links.

        Raises:
            CandidateError: if the source does not exist or is too large.
        """
        ...

    async def quiet(self) -> None:
        """End all of its processes."""
        ...

    async def stop(self) -> None:
        """End all of its processes, and remove it."""
        ...


class KeptSandbox(ContainerSandbox, Protocol):
    """A sandbox whose content can be saved."""

    async def settle(self) -> Settled:
        """End all of its processes and save its disk; only `stop` may follow.

        Raises:
            CandidateError: if the content exceeds the limits.
        """
        ...


class Backend(Protocol):
    """Makes environments of tasks."""

    async def build(self, task: ContainerTask) -> Image:
        """Return a task's environment in its initial state; the same one for the same task.

        Raises:
            ConfigError: if this backend cannot run the task; the message says why.
            IsolationError: if this machine cannot isolate it.
        """
        ...

    def sandbox(self, task: ContainerTask, image: Image, phase: Phase) -> KeptSandbox:
        """Return a sandbox of an image, not yet started."""
        ...

    async def discard(self, image: Image) -> None:
        """Remove an image saved by a sandbox."""
        ...

    async def close(self) -> None:
        """Remove all images."""
        ...
